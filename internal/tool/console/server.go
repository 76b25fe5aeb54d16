package console

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/tool/dev"
)

//go:embed page
var embedded embed.FS

// Config configures a [Server].
type Config struct {
	Source Source
	// Listen is the address that the page is served on, such as 127.0.0.1:8610. A request whose
	// Host is anything else is refused.
	Listen string
	// Token is the secret that a browser must send. If it is empty, New makes one.
	Token string
	// Write adds the routes that change something: resend, and the trouble of ingot dev.
	Write bool
}

// Server is the console as an http.Handler.
type Server struct {
	cfg    Config
	routes *http.ServeMux
	cookie string // the name of the cookie. It has the port in it, because browsers share cookies between ports
	page   http.Handler
	origin string // the address as browsers write it: without port 80
}

// New makes a console.
func New(c Config) (*Server, error) {
	if err := loopback(c.Listen); err != nil {
		return nil, err
	}
	if c.Token == "" {
		c.Token = rand.Text()
	}
	page, err := fs.Sub(embedded, "page")
	if err != nil {
		return nil, err
	}
	_, port, _ := net.SplitHostPort(c.Listen) // loopback has checked it
	s := &Server{cfg: c, routes: http.NewServeMux(), cookie: "ingot-" + port, page: http.FileServerFS(page),
		origin: strings.TrimSuffix(c.Listen, ":80")}
	s.read()
	if c.Write {
		s.write()
	}
	return s, nil
}

// loopback refuses an address that other machines can reach.
func loopback(address string) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("console: %q is not an address and a port; write 127.0.0.1:8610", address)
	}
	if !at.Addr().IsLoopback() {
		return fmt.Errorf("console: %s can be reached by other machines, and the console shows what is stored; listen on 127.0.0.1:%d",
			address, at.Port())
	}
	return nil
}

// Listen opens a port on 127.0.0.1. Port 0 takes a free one.
func Listen(port int) (net.Listener, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if dev.PortTaken(err) {
		return nil, fmt.Errorf("port %d is taken by another program, perhaps by another console: end that one, or choose a port with "+
			"--port; 0 takes any free one", port)
	}
	if err != nil {
		return nil, fmt.Errorf("the console cannot listen on port %d: %w; name another with --port, or 0 for any", port, err)
	}
	return l, nil
}

// URL returns the address to open. The token is in its fragment, which a browser does not send, so
// it is in no server's log.
func (s *Server) URL() string { return "http://" + s.cfg.Listen + "/#token=" + s.cfg.Token }

// Serve answers requests until ctx ends. It refuses a listener on any address but its own.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if l.Addr().String() != s.cfg.Listen {
		return fmt.Errorf("console: it is made for %s, and this listener is on %s", s.cfg.Listen, l.Addr())
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stopped := context.AfterFunc(ctx, func() { server.Close() })
	defer stopped()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return ctx.Err()
}

// ServeHTTP checks who asks before it looks at what is asked. The page itself needs no token,
// because it holds no data; everything under /api/ does.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	// If the name of a foreign page resolves to 127.0.0.1, the browser sends that name as Host.
	if r.Host != s.cfg.Listen && r.Host != s.origin {
		refuse(w, http.StatusForbidden, "this console is served as "+s.cfg.Listen+" only")
		return
	}
	if !s.own(r) {
		refuse(w, http.StatusForbidden, "this request comes from another page")
		return
	}
	if !strings.HasPrefix(r.URL.Path, "/api/") {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			refuse(w, http.StatusMethodNotAllowed, "the page is only read")
			return
		}
		s.page.ServeHTTP(w, r)
		return
	}
	if r.URL.Path == "/api/session" {
		s.session(w, r)
		return
	}
	if !s.known(r) {
		refuse(w, http.StatusUnauthorized, "this needs the token of this start: open the address that the command printed")
		return
	}
	s.routes.ServeHTTP(w, r)
}

// own reports whether a request comes from the console's own page. A browser sends Origin with
// every request that is not a GET or HEAD, so one without it does not come from the page.
func (s *Server) own(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" {
		site := r.Header.Get("Sec-Fetch-Site") // "none" is a person who typed the address
		foreign := site != "" && site != "same-origin" && site != "none"
		if foreign && !strings.HasPrefix(r.URL.Path, "/api/") && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
			foreign = false // a link to the page, which holds no data
		}
		return !foreign && (r.Method == http.MethodGet || r.Method == http.MethodHead)
	}
	return origin == "http://"+s.origin
}

// session exchanges the token for a cookie. The cookie holds a hash, so the browser does not store
// the token itself.
func (s *Server) session(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Token string `json:"token"`
	}
	if r.Method != http.MethodPost || !decode(w, r, &in) {
		refuse(w, http.StatusBadRequest, "send the token with POST")
		return
	}
	if subtle.ConstantTimeCompare([]byte(in.Token), []byte(s.cfg.Token)) != 1 {
		refuse(w, http.StatusUnauthorized, "this is not the token of this start: open the address that the command printed last")
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie, Value: s.proof(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) proof() string {
	sum := sha256.Sum256([]byte("ingot console\n" + s.cfg.Token))
	return hex.EncodeToString(sum[:])
}

func (s *Server) known(r *http.Request) bool {
	c, err := r.Cookie(s.cookie)
	return err == nil && subtle.ConstantTimeCompare([]byte(c.Value), []byte(s.proof())) == 1
}

// maxBody is enough for a message of SQS, escaped as JSON.
const maxBody = 8 << 20

// decode reads the JSON of a request. It returns false if the body is something else.
func decode(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	d.DisallowUnknownFields()
	return d.Decode(into) == nil
}

func refuse(w http.ResponseWriter, status int, why string) {
	answer(w, status, map[string]string{"error": why})
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	text, err := json.Marshal(body) // escapes <, > and &
	if err != nil {
		text = []byte(`{"error":"the answer cannot be written as JSON"}`) // cannot happen: the types are ours
	}
	_, _ = w.Write(text) // the browser has gone away, and nobody is left to tell
	_, _ = io.WriteString(w, "\n")
}
