package console

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// nothing is a Source of an empty pipeline.
type nothing struct{ Laboratory }

func (nothing) About(context.Context) (*About, error) {
	return &About{Name: "shop", Trouble: []Kind{{Name: troubleTwice}}}, nil
}
func (nothing) Flow(context.Context) (*Flow, error)                 { return &Flow{}, nil }
func (nothing) Resend(context.Context, string) (string, error)      { return "sent", nil }
func (nothing) Trouble(context.Context, string) (string, error)     { return "done", nil }
func (nothing) Verify(context.Context) (*Verified, error)           { return &Verified{Same: true}, nil }
func (nothing) Journey(context.Context, Question) (*Journey, error) { return nil, &mistake{"no"} }
func (nothing) Quarantine(context.Context) (*Quarantine, error)     { return &Quarantine{}, nil }
func (nothing) Letter(_ context.Context, id string) (*Letter, error) {
	return &Letter{LetterSummary: LetterSummary{ID: id}}, nil
}
func (nothing) Totals(_ context.Context, c Choice) (*Totals, error) {
	return &Totals{Price: c.Aggregate}, nil
}

const (
	host  = "127.0.0.1:8610"
	token = "the token of this start"
)

func newServer(t *testing.T, write bool) *Server {
	t.Helper()
	s, err := New(Config{Source: nothing{}, Listen: host, Token: token, Write: write})
	must.Succeed(t, err)
	return s
}

// asked sends a request as a browser on the console's own page would, changed by edit.
func asked(s *Server, method, path, body string, edit func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://"+host+path, strings.NewReader(body))
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		r.Header.Set("Origin", "http://"+host)
	}
	r.AddCookie(&http.Cookie{Name: s.cookie, Value: s.proof()})
	if edit != nil {
		edit(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func TestWhoMayAsk(t *testing.T) {
	s := newServer(t, true)
	stranger := func(r *http.Request) { r.Header.Del("Cookie") }
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) {
			if r.Header.Del(name); value != "" {
				r.Header.Set(name, value)
			}
		}
	}
	linked := func(r *http.Request) {
		r.Header.Set("Sec-Fetch-Site", "cross-site")
		r.Header.Set("Sec-Fetch-Mode", "navigate")
	}
	// form is what a form of a page sends that a browser takes for the same site.
	form := func(kind string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Set("Content-Type", kind)
			r.Header.Set("Origin", "http://127.0.0.1:8611")
			r.Header.Set("Sec-Fetch-Site", "same-site")
		}
	}
	served := func(host string) func(*http.Request) { return func(r *http.Request) { r.Host = host } }
	asks := func(name, method, path string, edit func(*http.Request), want int) {
		t.Run(name, func(t *testing.T) { must.Equal(t, asked(s, method, path, `{"id":"x"}`, edit).Code, want) })
	}
	for name, host := range map[string]string{
		"a foreign host, the page":                 "evil.example",
		"a foreign host on this port":              "evil.example:8610",
		"localhost by name":                        "localhost:8610",
		"another port":                             "127.0.0.1:8611",
		"without a port":                           "127.0.0.1",
		"no host":                                  "",
		"a host with a dot at its end":             "127.0.0.1.:8610",
		"a port with a dot at its end":             host + ".",
		"a name that begins like the address":      "127.0.0.1.evil.example:8610",
		"a name that begins like address and port": host + ".evil.example",
		"a name that ends like the address":        "evil.example@" + host,
		"localhost in upper case":                  "LOCALHOST:8610",
		"the address of IPv6":                      "[::1]:8610",
		"the address as IPv6":                      "[::ffff:127.0.0.1]:8610",
		"every address":                            "0.0.0.0:8610",
		"the address as a number":                  "2130706433:8610",
	} {
		asks(name, "GET", "/", served(host), 403)
	}
	for name, origin := range map[string]string{
		"a foreign origin writes":                   "http://evil.example",
		"an opaque origin":                          "null",
		"another port's page":                       "http://127.0.0.1:8611",
		"a page whose name begins like the address": "http://" + host + ".evil.example",
		"an origin that ends like the address":      "http://evil.example#http://" + host,
		"an origin with a name in front":            "http://evil.example@" + host,
		"an origin without its port":                "http://127.0.0.1",
		"an origin of IPv6":                         "http://[::1]:8610",
		"an origin by name":                         "http://localhost:8610",
		"https":                                     "https://" + host,
		"a write without an origin":                 "",
	} {
		asks(name, "POST", "/api/resend", header("Origin", origin), 403)
	}
	for _, tt := range []struct {
		name, method, path string
		edit               func(*http.Request)
		want               int
	}{
		{"own page", "GET", "/api/about", nil, 200},
		{"the page without a token", "GET", "/", stranger, 200},
		{"a script without a token", "GET", "/main.js", stranger, 200},
		{"reading without a token", "GET", "/api/flow", stranger, 401},
		{"reading quarantine without a token", "GET", "/api/quarantine", stranger, 401},
		{"a question without a token", "POST", "/api/journey", stranger, 401},
		{"writing without a token", "POST", "/api/resend", stranger, 401},
		{"an unknown route without a token", "GET", "/api/nothing", stranger, 401},
		{"another cookie", "GET", "/api/flow", header("Cookie", "ingot-8610=0000"), 401},
		{"the token itself as a cookie", "GET", "/api/flow", header("Cookie", "ingot-8610="+strings.ReplaceAll(token, " ", "")), 401},
		{"a foreign host", "GET", "/api/about", served("evil.example"), 403},
		{"a foreign origin reads", "GET", "/api/about", header("Origin", "http://evil.example"), 403},
		{"a page whose name begins like the address reads", "GET", "/api/about", header("Origin", "http://"+host+".evil.example"), 403},
		{"a form of another page", "POST", "/api/resend", form("application/x-www-form-urlencoded"), 403},
		{"a form with files", "POST", "/api/resend", form("multipart/form-data; boundary=x"), 403},
		{"a form of plain text", "POST", "/api/resend", form("text/plain"), 403},
		{"a form with PUT", "PUT", "/api/resend", form("application/x-www-form-urlencoded"), 403},
		{"DELETE from another page", "DELETE", "/api/resend", header("Origin", "http://evil.example"), 403},
		{"a site that browsers do not know yet", "GET", "/api/about", header("Sec-Fetch-Site", "near"), 403},
		{"a link to data", "GET", "/api/about", linked, 403},
		{"a link from another page", "GET", "/", linked, 200},
		{"an image of another page", "GET", "/api/about", header("Sec-Fetch-Site", "cross-site"), 403},
		{"a page on another port", "GET", "/api/about", header("Sec-Fetch-Site", "same-site"), 403},
		{"a script for another page", "GET", "/main.js", header("Sec-Fetch-Site", "cross-site"), 403},
		{"not with PUT", "PUT", "/", nil, 405},
		{"an unknown file", "GET", "/etc/passwd", nil, 404},
		{"not out of the folder", "GET", "/../server.go", nil, 404},
		{"an unknown route", "GET", "/api/nothing", nil, 404},
	} {
		asks(tt.name, tt.method, tt.path, tt.edit, tt.want)
	}
}

// On port 80, browsers leave the port out.
func TestPort80(t *testing.T) {
	s, err := New(Config{Source: nothing{}, Listen: "127.0.0.1:80", Token: token, Write: true})
	must.Succeed(t, err)
	for _, tt := range []struct {
		host, origin string
		want         int
	}{
		{"127.0.0.1", "http://127.0.0.1", 200},
		{"127.0.0.1:80", "http://127.0.0.1", 200},
		{"127.0.0.1:8080", "http://127.0.0.1", 403},
		{"127.0.0.1", "http://127.0.0.1:8080", 403},
		{"evil.example", "http://evil.example", 403},
	} {
		w := asked(s, "POST", "/api/resend", `{"id":"x"}`, func(r *http.Request) {
			r.Host = tt.host
			r.Header.Set("Origin", tt.origin)
		})
		must.Equal(t, w.Code, tt.want, tt, w.Body)
	}
}

func TestSession(t *testing.T) {
	s := newServer(t, false)
	for body, want := range map[string]int{
		`{"token":"` + token + `"}`: 204, `{"token":""}`: 401, `{"token":"` + token + `x"}`: 401, `{}`: 401, `not JSON`: 400,
		`{"token":1}`: 400,
	} {
		w := asked(s, "POST", "/api/session", body, func(r *http.Request) { r.Header.Del("Cookie") })
		cookies := w.Result().Cookies()
		if w.Code != want || (len(cookies) == 1) != (want == 204) {
			t.Errorf("%s: %d with %d cookies, want %d", body, w.Code, len(cookies), want)
		}
		for _, c := range cookies {
			if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || strings.Contains(c.Value, token) || c.Name != "ingot-8610" ||
				c.MaxAge != 0 || !c.Expires.IsZero() {
				t.Errorf("cookie %q: it must be strict, for HTTP alone, gone with the browser, and not the token", c)
			}
			must.Equal(t, asked(s, "GET", "/api/about", "", func(r *http.Request) {
				r.Header.Set("Cookie", c.Name+"="+c.Value)
			}).Code, 200)
		}
	}
	must.Equal(t, asked(s, "GET", "/api/session", "", nil).Code, 400)
	other := newServer(t, false)
	other.cfg.Token = "that of another start"
	must.Equal(t, asked(other, "GET", "/api/about", "", func(r *http.Request) { r.Header.Set("Cookie", s.cookie+"="+s.proof()) }).Code, 401)
}

func TestWritingNeedsWrite(t *testing.T) {
	for _, path := range []string{"/api/resend", "/api/trouble"} {
		must.Equal(t, asked(newServer(t, true), "POST", path, `{"id":"x"}`, nil).Code, 200, path)
		if w := asked(newServer(t, false), "POST", path, `{"id":"x"}`, nil); w.Code != 404 ||
			!strings.Contains(w.Body.String(), "--write") {
			t.Errorf("%s without --write: %d %s", path, w.Code, w.Body)
		}
	}
	var about About
	if err := json.Unmarshal(asked(newServer(t, false), "GET", "/api/about", "", nil).Body.Bytes(), &about); err != nil || about.Write ||
		len(about.Trouble) != 0 {
		t.Errorf("read only, and about says %+v (%v)", about, err)
	}
}

func TestHeaders(t *testing.T) {
	for _, path := range []string{"/", "/main.js", "/api/about", "/api/nothing", "/uplot/uPlot.esm.js"} {
		h := asked(newServer(t, false), "GET", path, "", nil).Header()
		policy := h.Get("Content-Security-Policy")
		if !strings.HasPrefix(policy, "default-src 'self';") || strings.Contains(policy, "unsafe") ||
			!strings.Contains(policy, "frame-ancestors 'none'") {
			t.Errorf("%s: policy %q", path, policy)
		}
		if h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Cache-Control") != "no-store" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
			t.Errorf("%s: %v", path, h)
		}
	}
	// A payload in an answer can be no markup, even if somebody opens the answer as a page.
	w := asked(newServer(t, false), "POST", "/api/letter", `{"id":"<img src=x onerror=alert(1)>"}`, nil)
	if w.Code != 200 || strings.Contains(w.Body.String(), "<") || w.Header().Get("Content-Type") != "application/json" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestBadRequests(t *testing.T) {
	s := newServer(t, true)
	for body, want := range map[string]int{`{"pk":"a"}`: 422, `[]`: 400, ``: 400, `{"other":1}`: 400, `{"message":"` +
		strings.Repeat("x", maxBody) + `"}`: 400} {
		if w := asked(s, "POST", "/api/journey", body, nil); w.Code != want || !strings.Contains(w.Body.String(), `"error"`) {
			t.Errorf("%.40s: %d, want %d: %s", body, w.Code, want, w.Body)
		}
	}
}

// TestOnlyLoopback shows that nothing listens where other machines can reach it.
func TestOnlyLoopback(t *testing.T) {
	for _, address := range []string{"0.0.0.0:8610", "[::]:8610", "192.168.1.1:8610", "example.org:8610", ":8610", "127.0.0.1", ""} {
		if _, err := New(Config{Source: nothing{}, Listen: address}); err == nil {
			t.Errorf("it would serve %q", address)
		}
	}
	l, err := Listen(0)
	must.Succeed(t, err)
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	number, _ := strconv.Atoi(port)
	if second, err := Listen(number); err == nil ||
		!strings.HasPrefix(err.Error(), "port "+port+" is taken by another program, perhaps by another console") {
		t.Errorf("a second console: %v, %v", second, err)
	}
	if err := loopback(l.Addr().String()); err != nil || !strings.HasPrefix(l.Addr().String(), "127.0.0.1:") {
		t.Errorf("it listens on %s (%v)", l.Addr(), err)
	}
	must.Fail(t, newServer(t, false).Serve(t.Context(), l), "127.0.0.1:8610")
	s, err := New(Config{Source: nothing{}, Listen: l.Addr().String()})
	must.Succeed(t, err)
	if len(s.cfg.Token) < 26 || !strings.HasSuffix(s.URL(), "/#token="+s.cfg.Token) {
		t.Errorf("URL %q has too short a token, or none in its fragment", s.URL())
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, l) }()
	answer, err := http.Get("http://" + l.Addr().String() + "/")
	must.Succeed(t, err)
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	must.Succeed(t, err)
	must.Say(t, string(text), "Ingot console")
	http.DefaultClient.CloseIdleConnections()
	cancel()
	must.Equal(t, <-ended, context.Canceled)
}

// TestPageMakesTextNodes shows that no module of the page can turn data into markup, and that
// nothing names another host.
func TestPageMakesTextNodes(t *testing.T) {
	page, err := fs.Sub(embedded, "page")
	must.Succeed(t, err)
	seen := 0
	err = fs.WalkDir(page, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasPrefix(path, "uplot/") {
			return err
		}
		seen++
		text, err := fs.ReadFile(page, path)
		for _, bad := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser",
			"createContextualFragment", "eval(", "new Function", "setHTML", "srcdoc", "https://", "localStorage"} {
			if strings.Contains(string(text), bad) {
				t.Errorf("page/%s has %s", path, bad)
			}
		}
		return err
	})
	if err != nil || seen < 9 {
		t.Errorf("%d files read (%v)", seen, err)
	}
}
