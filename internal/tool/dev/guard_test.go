package dev

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestWebPagesAreRefused(t *testing.T) {
	one := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8611}
	every := &net.TCPAddr{IP: net.IPv4zero, Port: 8611}
	six := &net.TCPAddr{IP: net.IPv6loopback, Port: 8611}
	web := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	for _, c := range []struct {
		name          string
		served        net.Addr
		host          string
		header, value string
		want          int
	}{
		{"an SDK", one, "127.0.0.1:8611", "", "", 200},
		{"a container", one, "host.docker.internal:8611", "", "", 200},
		{"a person who typed the address", one, "127.0.0.1:8611", "Sec-Fetch-Site", "none", 200},
		{"a name that resolves to this machine", one, "evil.example:8611", "", "", 403},
		{"a name that begins like the address", one, "127.0.0.1:8611.evil.example", "", "", 403},
		{"a name that begins like the IP", one, "127.0.0.1.evil.example:8611", "", "", 403},
		{"a dot at the end of the address", one, "127.0.0.1.:8611", "", "", 403},
		{"a dot at the end of the port", one, "127.0.0.1:8611.", "", "", 403},
		{"a dot at the end of the containers' name", one, "host.docker.internal.:8611", "", "", 403},
		{"a name below the containers' name", one, "evil.host.docker.internal:8611", "", "", 403},
		{"a name that ends like the address", one, "evil.example@127.0.0.1:8611", "", "", 403},
		{"localhost in upper case", one, "LOCALHOST:8611", "", "", 403},
		{"the address as IPv6", one, "[::ffff:127.0.0.1]:8611", "", "", 403},
		{"the address of IPv6, which is not served", one, "[::1]:8611", "", "", 403},
		{"the address of IPv6, which is served", six, "[::1]:8611", "", "", 200},
		{"the address of IPv6 without brackets", six, "::1:8611", "", "", 403},
		{"an address of IPv6, if all are served", every, "[2001:db8::1]:8611", "", "", 200},
		{"an address with a dot at its end, if all are served", every, "192.0.2.1.:8611", "", "", 403},
		{"port 80, which clients leave out", web, "127.0.0.1", "", "", 200},
		{"port 80, of another name", web, "evil.example", "", "", 403},
		{"another port", one, "127.0.0.1:80", "", "", 403},
		{"no port", one, "127.0.0.1", "", "", 403},
		{"no host", one, "", "", "", 403},
		{"another address", one, "192.0.2.1:8611", "", "", 403},
		{"an address, if all are served", every, "192.0.2.1:8611", "", "", 200},
		{"a name, if all addresses are served", every, "evil.example:8611", "", "", 403},
		{"a foreign page", one, "127.0.0.1:8611", "Origin", "http://evil.example", 403},
		{"a page without an origin", one, "127.0.0.1:8611", "Origin", "null", 403},
		{"its own page", one, "127.0.0.1:8611", "Origin", "http://127.0.0.1:8611", 403},
		{"an image of a foreign page", one, "127.0.0.1:8611", "Sec-Fetch-Site", "cross-site", 403},
		{"a page on another port", one, "127.0.0.1:8611", "Sec-Fetch-Site", "same-site", 403},
		{"a form of its own page", one, "127.0.0.1:8611", "Sec-Fetch-Site", "same-origin", 403},
		{"a site that browsers do not know yet", one, "127.0.0.1:8611", "Sec-Fetch-Site", "near", 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			reached := false
			r := httptest.NewRequest(http.MethodPost, "/archive?delete", nil)
			if r.Host = c.host; c.header != "" {
				r.Header.Set(c.header, c.value)
			}
			w := httptest.NewRecorder()
			guard(c.served, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })).ServeHTTP(w, r)
			if w.Code != c.want || reached != (c.want == 200) {
				t.Errorf("the answer is %d, want %d; the request was carried out: %v", w.Code, c.want, reached)
			}
		})
	}
}
