package dev

import (
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestWebPagesAreRefused(t *testing.T) {
	one := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8611}
	every := &net.TCPAddr{IP: net.IPv4zero, Port: 8611}
	six := &net.TCPAddr{IP: net.IPv6loopback, Port: 8611}
	web := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}
	asks := func(name string, served net.Addr, host string, header http.Header, want int) {
		t.Run(name, func(t *testing.T) {
			reached := false
			r := httptest.NewRequest(http.MethodPost, "/archive?delete", nil)
			r.Host, r.Header = host, header
			w := httptest.NewRecorder()
			guard(served, http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true })).ServeHTTP(w, r)
			must.Equal(t, w.Code, want)
			must.Equal(t, reached, want == 200, "it was carried out")
		})
	}
	for _, c := range []struct {
		name   string
		served net.Addr
		host   string
		want   int
	}{
		{"an SDK", one, "127.0.0.1:8611", 200},
		{"a container", one, "host.docker.internal:8611", 200},
		{"a name that resolves to this machine", one, "evil.example:8611", 403},
		{"a name that begins like the address", one, "127.0.0.1:8611.evil.example", 403},
		{"a name that begins like the IP", one, "127.0.0.1.evil.example:8611", 403},
		{"a dot at the end of the address", one, "127.0.0.1.:8611", 403},
		{"a dot at the end of the port", one, "127.0.0.1:8611.", 403},
		{"a dot at the end of the containers' name", one, "host.docker.internal.:8611", 403},
		{"a name below the containers' name", one, "evil.host.docker.internal:8611", 403},
		{"a name that ends like the address", one, "evil.example@127.0.0.1:8611", 403},
		{"localhost in upper case", one, "LOCALHOST:8611", 403},
		{"the address as IPv6", one, "[::ffff:127.0.0.1]:8611", 403},
		{"the address of IPv6, which is not served", one, "[::1]:8611", 403},
		{"the address of IPv6, which is served", six, "[::1]:8611", 200},
		{"the address of IPv6 without brackets", six, "::1:8611", 403},
		{"an address of IPv6, if all are served", every, "[2001:db8::1]:8611", 200},
		{"an address with a dot at its end, if all are served", every, "192.0.2.1.:8611", 403},
		{"port 80, which clients leave out", web, "127.0.0.1", 200},
		{"port 80, of another name", web, "evil.example", 403},
		{"another port", one, "127.0.0.1:80", 403},
		{"no port", one, "127.0.0.1", 403},
		{"no host", one, "", 403},
		{"another address", one, "192.0.2.1:8611", 403},
		{"an address, if all are served", every, "192.0.2.1:8611", 200},
		{"a name, if all addresses are served", every, "evil.example:8611", 403},
	} {
		asks(c.name, c.served, c.host, http.Header{}, c.want)
	}
	asks("a person who typed the address", one, "127.0.0.1:8611", http.Header{"Sec-Fetch-Site": {"none"}}, 200)
	for name, value := range map[string]string{
		"a foreign page":           "http://evil.example",
		"a page without an origin": "null",
		"its own page":             "http://127.0.0.1:8611",
	} {
		asks(name, one, "127.0.0.1:8611", http.Header{"Origin": {value}}, 403)
	}
	for name, value := range map[string]string{
		"an image of a foreign page":           "cross-site",
		"a page on another port":               "same-site",
		"a form of its own page":               "same-origin",
		"a site that browsers do not know yet": "near",
	} {
		asks(name, one, "127.0.0.1:8611", http.Header{"Sec-Fetch-Site": {value}}, 403)
	}
}
