package dev

import (
	"net"
	"net/http"
	"strings"
)

// containersName is the name that a container has for this machine.
const containersName = "host.docker.internal"

// guard refuses requests of web pages. No SDK sends Origin, or says that it comes from another
// page. A page whose name resolves to this machine can read the answers, but its requests have that
// name as Host. served is the address of the listener. If it stands for every address of this
// machine, Host may be any address, but not a name.
func guard(served net.Addr, h http.Handler) http.Handler {
	ip, port, _ := net.SplitHostPort(served.String())
	every := net.ParseIP(ip).IsUnspecified()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, given, err := net.SplitHostPort(r.Host)
		if err != nil { // clients leave port 80 out
			name, given = strings.Trim(r.Host, "[]"), "80"
		}
		known := name == ip || name == containersName || every && net.ParseIP(name) != nil
		site := r.Header.Get("Sec-Fetch-Site") // "none" is a person who typed the address
		switch {
		case given != port || !known:
			http.Error(w, "ingot dev is served as "+served.String()+" only: use this address, not "+r.Host, http.StatusForbidden)
		case r.Header.Values("Origin") != nil || site != "" && site != "none":
			http.Error(w, "this request comes from a web page, and ingot dev answers programs only", http.StatusForbidden)
		default:
			h.ServeHTTP(w, r)
		}
	})
}
