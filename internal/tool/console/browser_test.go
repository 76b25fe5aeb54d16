package console

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/tool/dev"
)

var screenshots = flag.String("screenshots", "", "write pictures of every view into this folder")

// chromium returns the path of a Chromium, or skips the test. With INGOT_REQUIRE_BROWSER=1 the test
// fails instead.
func chromium(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("slow: it starts a browser")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	const lacking = "no Chromium here, so the console is not tested in a browser; scripts/chromium.sh installs it"
	if os.Getenv("INGOT_REQUIRE_BROWSER") == "1" {
		t.Fatal(lacking)
	}
	t.Skip(lacking)
	return ""
}

// tab is a page in a browser.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu     sync.Mutex
	hosts  map[string]int // requests by host
	paths  map[string]int // and by path
	errors []string       // of the page's scripts
}

// browse starts a browser with one empty page as wide as a desk.
func browse(t *testing.T) *tab {
	t.Helper()
	ctx, end := chromedp.NewExecAllocator(t.Context(),
		append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)), chromedp.NoSandbox,
			chromedp.Flag("disable-dev-shm-usage", true))...)
	t.Cleanup(end)
	ctx, end = chromedp.NewContext(ctx)
	t.Cleanup(end)
	b := &tab{t: t, hosts: map[string]int{}, paths: map[string]int{}}
	b.ctx, end = context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(end)
	var watching sync.WaitGroup
	t.Cleanup(watching.Wait)
	t.Cleanup(end)
	requests, thrown, said := chromedp.Events(b.ctx, network.RequestWillBeSent), chromedp.Events(b.ctx, runtime.ExceptionThrown),
		chromedp.Events(b.ctx, runtime.ConsoleAPICalled)
	watching.Go(func() {
		for e, err := range requests {
			if err != nil {
				return
			}
			b.note(func() {
				if u, err := url.Parse(e.Request.URL); err == nil && u.Scheme != "about" {
					b.hosts[u.Scheme+"://"+u.Host]++
					b.paths[u.Path]++
				}
			})
		}
	})
	watching.Go(func() {
		for e, err := range thrown {
			if err != nil {
				return
			}
			b.note(func() {
				b.errors = append(b.errors, (&chromedp.ExceptionError{ExceptionDetails: e.ExceptionDetails}).Error())
			})
		}
	})
	watching.Go(func() {
		for e, err := range said {
			if err != nil {
				return
			}
			if e.Type == "error" {
				b.note(func() { b.errors = append(b.errors, "console.error was called") })
			}
		}
	})
	b.size(1280, 900)
	return b
}

func (b *tab) note(what func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	what()
}

func (b *tab) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, actions...); err != nil {
		b.t.Fatalf("the browser: %v", err)
	}
}

func (b *tab) size(width, height int64) {
	b.t.Helper()
	b.do(chromedp.EmulateViewport(width, height))
}

func (b *tab) theme(name string) {
	b.t.Helper()
	b.do(func(ctx context.Context, page *chromedp.Target) (chromedp.Void, error) {
		_, err := cdp.Call(ctx, page, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
		return chromedp.Void{}, err
	})
}

// open opens the console of a shop as the command prints it.
func (b *tab) open(d *dev.Dev) {
	b.t.Helper()
	b.do(chromedp.Navigate(d.Local().Console))
	b.await("document.querySelector('#views a') !== null")
}

// await waits until a JavaScript condition holds.
func (b *tab) await(condition string) {
	b.t.Helper()
	if _, err := chromedp.Run(b.ctx,
		chromedp.Poll[any]("Boolean("+condition+")", chromedp.WithPollingTimeout(20*time.Second))); err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string]("document.body.innerText"))
		b.t.Fatalf("%s does not become true (%v). The page says:\n%.3000s", condition, err, text)
	}
}

// eval runs a script in the page, and waits for its promise.
func eval[T any](b *tab, script string) T {
	b.t.Helper()
	wait := true
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](script, func(p *runtime.EvaluateParams) { p.AwaitPromise = &wait }))
	if err != nil {
		b.t.Fatalf("the browser: %v", err)
	}
	return out
}

// run runs a script in the page for what it does.
func (b *tab) run(script string) {
	b.t.Helper()
	eval[bool](b, script+"; true")
}

// view goes to a view and waits until it shows what it has.
func (b *tab) view(name string) {
	b.t.Helper()
	hash, ready := name, ""
	switch name {
	case "flow":
		ready = "document.querySelector('.chart canvas') && document.querySelectorAll('#main tbody tr:not([hidden])').length > 20"
	case "journey":
		hash, ready = "journey?pk=ORDER%23o-0005&sk=PLACED", "document.querySelectorAll('.step').length === 6"
	case "totals":
		ready = "document.querySelectorAll('.groups tbody tr').length > 3 && document.querySelector('.groups " +
			"th').textContent.includes('merchant')"
	case "values":
		hash, ready = "totals",
			"document.querySelectorAll('.groups tbody tr').length > 3 && document.querySelector('.groups').textContent.includes('about')"
	case "quarantine":
		ready = "document.querySelectorAll('[data-letter]').length === 5"
	}
	b.run("location.hash = " + quote(hash))
	if aggregate := map[string]string{"totals": "orders_daily",
		"values": "shops_monthly"}[name]; aggregate != "" { // the first aggregate has no windows
		b.await("document.getElementById('main').dataset.view === 'totals'")
		b.run("{ const pick = document.getElementById('aggregate'); pick.value = " + quote(aggregate) +
			"; pick.dispatchEvent(new Event('change')) }")
	}
	b.await("document.getElementById('main').dataset.view === " + quote(strings.Split(hash, "?")[0]) + " && " + ready)
}

func quote(text string) string {
	out, _ := json.Marshal(text) // a string is always JSON
	return string(out)
}

// views are the four views, with the totals of an aggregate whose values are not numbers as a
// fifth.
var views = []string{"flow", "journey", "totals", "values", "quarantine"}

// clean reports requests to other hosts, and errors of the page.
func (b *tab) clean(d *dev.Dev) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	own := strings.TrimSuffix(strings.Split(d.Local().Console, "#")[0], "/")
	for host, n := range b.hosts {
		must.Equal(b.t, host, own, n)
	}
	if b.hosts[own] < 10 {
		b.t.Errorf("only %d requests were seen; the test looks at the wrong thing", b.hosts[own])
	}
	for _, e := range b.errors {
		b.t.Errorf("the page: %s", e)
	}
}

// TestViews shows every view with data, in both themes and two widths: axe finds nothing, nothing
// is wider than the window, and markup in payloads stays text. make test-all shows each theme in
// each width.
func TestViews(t *testing.T) {
	t.Parallel()
	b, d := browse(t), shop(t)
	fillShop(t, d)
	axe := axeScript(t)
	b.open(d)
	if hash := eval[string](b, "location.href"); strings.Contains(hash, "token") {
		t.Errorf("the address still shows the token: %s", hash)
	}
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, width := range []int64{1280, 390} {
			if (theme == "dark") != (width == 390) && *screenshots == "" && !slow.All() {
				continue // each theme and each width once
			}
			b.size(width, 900)
			for _, view := range views {
				b.view(view)
				b.detail(view)
				name := fmt.Sprintf("%s-%s-%d", view, theme, width)
				b.picture(name)
				if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > int(width) {
					t.Errorf("%s is %d wide", name, wide)
				}
				if broken := eval[[]string](b, brokenWords); len(broken) > 0 {
					t.Errorf("%s breaks short words of tables: %q", name, broken)
				}
				if axe != "" {
					b.accessible(axe, name)
				}
				if eval[bool](b, `/(?![\n\t])[\p{Cc}\p{Cf}]/u.test(document.getElementById("main").textContent)`) {
					t.Errorf("%s shows a character that nobody can see", name)
				}
				if view == "quarantine" && !eval[bool](b, `document.getElementById("main").textContent.includes("\\u202e\\u0007")`) {
					t.Errorf("%s does not show what cannot be seen as escapes", name)
				}
				must.Equal(t, eval[int](b, "document.querySelectorAll('#main img, #main script').length"), 0, name)
			}
		}
	}
	must.Equal(t, eval[string](b, "document.title"), "shop · Ingot console")
	b.clean(d)
}

// brokenWords lists the cells of tables whose short text is on more than one line.
const brokenWords = `[...document.querySelectorAll('#main td, #main th')].filter((cell) => {
	const range = document.createRange();
	range.selectNodeContents(cell);
	const bottoms = [...range.getClientRects()].map((r) => r.bottom);
	return cell.textContent.length <= 20 && Math.max(...bottoms) - Math.min(...bottoms) > 8;
}).map((cell) => cell.textContent)`

// detail opens what a view shows on demand.
func (b *tab) detail(view string) {
	switch view {
	case "totals", "values":
		b.run("document.querySelector('.groups button').click()")
		b.await("document.querySelector('.chart canvas')")
		if text := eval[string](b, "document.getElementById('main').innerText"); view == "values" &&
			(!strings.Contains(text, "p50") || !strings.Contains(text, "±1.6 %") || !strings.Contains(text, "2026-02") ||
				strings.Contains(text, "@example.com")) {
			b.t.Errorf("values of every kind should be shown, without what is personal: %s", text)
		}
	case "quarantine":
		b.run("[...document.querySelectorAll('#main tr')].find((row) => " +
			"row.textContent.includes('o-0012')).querySelector('[data-letter]').click()")
		b.await("document.querySelector('.differs')")
		if text := eval[string](b, "document.getElementById('letter').innerText"); !strings.Contains(text, "<img src=x onerror") ||
			strings.Contains(text, "anna3@example.com") {
			b.t.Errorf("a message should be shown whole, without what is personal: %s", text)
		}
	}
}

// picture writes a picture of the whole page, if pictures are asked for.
func (b *tab) picture(name string) {
	b.t.Helper()
	if *screenshots == "" {
		return
	}
	png, err := chromedp.Run(b.ctx, chromedp.FullScreenshot(100))
	must.Succeed(b.t, err)
	must.Succeed(b.t, os.MkdirAll(*screenshots, 0o755))
	must.Write(b.t, filepath.Join(*screenshots, name+".png"), string(png))
}

// axeScript returns axe-core, or "" where it cannot be fetched. In CI it must be there.
func axeScript(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("../../../scripts/axe.sh").Output()
	if err != nil {
		if os.Getenv("INGOT_REQUIRE_BROWSER") == "1" {
			t.Fatalf("scripts/axe.sh: %v", err)
		}
		t.Logf("axe-core is not here, so accessibility is not tested: scripts/axe.sh: %v", err)
		return ""
	}
	script := must.Read(t, strings.TrimSpace(string(out)))
	return string(script)
}

// accessible lets axe look at the page.
func (b *tab) accessible(axe, name string) {
	b.t.Helper()
	b.run(axe + "; true")
	type finding struct {
		ID, Help string
		Nodes    []struct {
			HTML           string
			FailureSummary string
		}
	}
	for _, f := range eval[[]finding](b, "axe.run(document, {resultTypes: ['violations']}).then((r) => r.violations)") {
		for _, n := range f.Nodes {
			b.t.Errorf("%s: axe: %s: %s\n  %.300s\n  %s", name, f.ID, f.Help, n.HTML, n.FailureSummary)
		}
	}
}
