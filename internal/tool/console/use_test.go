package console

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
)

// press presses a key of the keyboard so many times.
func (b *tab) press(key string, times int) {
	b.t.Helper()
	for range times {
		b.do(chromedp.KeyEvent(key))
	}
}

// reach presses Tab until a script says that the right element has the focus, as a person without a
// mouse would. Each element on the way must show that it has the focus.
func (b *tab) reach(what, is string) {
	b.t.Helper()
	for range 120 {
		b.press(kb.Tab, 1)
		found := eval[bool](b, "(() => { const at = document.activeElement; return Boolean("+is+"); })()")
		outline := eval[string](b, "(() => { const s = getComputedStyle(document.activeElement); return document.activeElement === "+
			"document.body ? 'page' : s.outlineStyle; })()")
		if outline == "none" {
			b.t.Errorf("on the way to %s, the focus cannot be seen on %s", what,
				eval[string](b, "document.activeElement.outerHTML.slice(0, 120)"))
		}
		if found {
			return
		}
	}
	b.t.Fatalf("Tab does not reach %s", what)
}

// enter is reach, and then the key Enter.
func (b *tab) enter(what, is string) {
	b.t.Helper()
	b.reach(what, is)
	b.press(kb.Enter, 1)
}

// TestKeyboard uses all four views without a mouse.
func TestKeyboard(t *testing.T) {
	b, d := browse(t), shop(t)
	fillShop(t, d)
	b.open(d)
	b.await("document.querySelectorAll('.recent tbody tr:not([hidden])').length > 5")

	b.enter("the button Verify", "at.id === 'verify'")
	b.await("document.querySelector('.outcome .good') !== null")
	b.enter("a message in the list", "at.matches('.recent a[href*=pk]')")
	b.await("document.querySelectorAll('.step').length === 6 || document.querySelectorAll('.step').length === 5")
	b.reach("a payload that is folded", "at.matches('summary')")
	open := eval[bool](b, "document.activeElement.parentElement.open")
	b.press(" ", 1)
	if eval[bool](b, "document.activeElement.parentElement.open") == open {
		t.Error("a space does not open or close it")
	}

	b.run("scrollTo(0, 0); document.getElementById('to-flow').focus()")
	b.enter("the view Journey", "at.id === 'to-journey'")
	b.await("document.activeElement.id === 'main'")
	b.reach("the type", "at.id === 'type'")
	b.press(kb.ArrowDown, 1)
	b.await("document.getElementById('field-order_id') !== null")
	b.reach("the field of the key", "at.id === 'field-order_id'")
	b.do(chromedp.KeyEvent("o-0005"))
	b.press(kb.Enter, 1)
	b.await("document.querySelector('#story')?.textContent.includes('ORDER#o-0005')")

	b.run("scrollTo(0, 0); document.getElementById('to-flow').focus()")
	b.enter("the view Totals", "at.id === 'to-totals'")
	b.await("document.activeElement.id === 'main' && document.getElementById('main').dataset.view === 'totals' && " +
		"document.querySelector('.groups button') !== null")
	b.reach("the aggregate", "at.id === 'aggregate'")
	b.press(kb.ArrowDown, 1)
	b.await("document.getElementById('aggregate').value === 'orders_daily' && document.querySelector('.groups " +
		"th')?.textContent.includes('merchant')")
	b.enter("the largest group", "at.matches('.groups button')")
	b.await("document.querySelector('.chart canvas') !== null")

	b.run("document.getElementById('to-flow').focus()")
	b.enter("the view Quarantine", "at.id === 'to-quarantine'")
	b.await("document.activeElement.id === 'main' && document.querySelectorAll('[data-letter]').length === 5")
	b.enter("a group of messages", "at.matches('[data-group]') && at.textContent === 'digest-differs'")
	b.await("document.querySelectorAll('[data-letter]').length === 3 && document.activeElement.getAttribute('aria-label') === 'Messages' " +
		"&& document.activeElement.textContent.includes('Messages: Conflict, digest-differs, order.placed')")
	b.enter("the button for all messages", "at.textContent === 'Show all messages'")
	b.await("document.querySelectorAll('[data-letter]').length === 5")
	b.enter("a message in quarantine", "at.matches('[data-letter]')")
	b.await("document.querySelector('#resend') !== null && document.activeElement.id === 'letter'")
	if !eval[bool](b,
		"document.getElementById('letter').closest('tr').previousElementSibling.querySelector('[aria-expanded=true]') !== null") {
		t.Error("the message is not below its row")
	}
	b.enter("the button that sends it again", "at.id === 'resend'")
	b.await("document.querySelector('#letter .good')?.textContent.startsWith('Sent as message')")
	until(t, d, 347, 0)
	b.clean(d)
}

// TestTroubleOnThePage makes all trouble with the buttons of the page. Afterwards the totals add
// up.
func TestTroubleOnThePage(t *testing.T) {
	t.Parallel() // beside TestViews: it waits for the ten seconds of a throttled table
	b, d := browse(t), shop(t)
	b.open(d)
	b.await("document.querySelector('[data-trouble=twice]') !== null")
	first := "document.querySelector('[aria-label=\"The first event\"]')"
	b.await("!" + first + ".hidden && " + first + ".textContent.includes('ingot send --local --sample order.placed')")
	click := func(kind, says string) {
		t.Helper()
		b.run("document.querySelector('[data-trouble=" + kind + "]').click()")
		b.await("document.querySelector('.outcome').textContent.includes(" + quote(says) + ")")
	}
	click("twice", "send one first")
	mustSend(t, d, order(1, 100))
	until(t, d, 1, 1)
	b.await(first + ".hidden")
	click("twice", "two more times")
	until(t, d, 3, 1)
	click("crash-ingest", "will crash")
	mustSend(t, d, order(2, 200))
	until(t, d, 3, 2) // the message itself comes again after its visibility timeout, as a Duplicate
	click("crash-streams", "will crash")
	mustSend(t, d, order(3, 300))
	until(t, d, 4, 3)
	click("expire", "removed 1 expired item")
	click("throttle", "ten seconds")
	b.run("document.getElementById('verify').click()")
	b.await("document.querySelector('.outcome .good')?.textContent.includes('every one is the sum')")
}

// TestBoundsOnThePage shows that the page of totals says which totals move with the put, and what
// their bounds are, and says neither of others.
func TestBoundsOnThePage(t *testing.T) {
	t.Parallel()
	b, d := browse(t), devOf(t, `ingot: 1
epoch: 1
type: goods
events:
  goods: {id: "{id}", at: "{at}", key: {pk: "GOODS#{id}", sk: "X"}}
aggregates:
  all: {since: 1, from: {goods: {values: {pieces: sum pieces}}}}
  stock:
    since: 1
    movedBy: put
    atLeast: {available: -1.5}
    atMost: {changes: 9}
    from: {goods: {values: {available: sum pieces, changes: count}}}
`)
	b.open(d)
	b.run("location.hash = 'totals'")
	b.await("document.getElementById('aggregate')?.value === 'all'")
	says := func(aggregate, about, rules string) {
		t.Helper()
		b.run("{ const pick = document.getElementById('aggregate'); pick.value = " + quote(aggregate) +
			"; pick.dispatchEvent(new Event('change')) }")
		b.await("document.querySelector('.asof').textContent === " + quote(about) +
			" && document.getElementById('moved').textContent === " + quote(rules))
	}
	says("stock", "exact, and right at the moment an event is stored",
		"These totals move with the put: the transaction that stores an event moves them too.No event can bring available below its floor of "+
			"-1.5: an event that would is Rejected.No event can bring changes above its ceiling of 9: an event that would is Rejected.")
	says("all", "exact, and behind the events by seconds", "")
}

// TestRefusedDelivery follows refused messages from the list of the latest. One of them has no key.
func TestRefusedDelivery(t *testing.T) {
	t.Parallel()
	b, d := browse(t), shop(t)
	mustSend(t, d, order(7, 100))
	until(t, d, 1, 1)
	mustSend(t, d, `{"type":"order.shipped","id":1}`, order(7, 200))
	until(t, d, 3, 1)
	b.open(d)
	follow := func(row, cell, reason, body string) {
		t.Helper()
		b.run("location.hash = 'flow'")
		find := "[...document.querySelectorAll('.recent tr:not([hidden])')].find((row) => row.textContent.includes(" + quote(row) +
			"))?.querySelector('td:nth-child(" + cell + ") a[href*=delivery]')"
		b.await(find)
		b.run(find + ".click()")
		b.await("document.querySelector('[data-step=delivery]')?.textContent.includes(" + quote(reason) +
			") && document.getElementById('story').textContent.includes(" + quote(body) + ")")
	}
	follow("Poison", "2", "Poison (unknown-type)", `"order.shipped"`)
	follow("Conflict", "2", "Conflict (digest-differs)", `"cents": 200`)
	follow("Conflict", "4", "Conflict (digest-differs)", `"cents": 200`)
	b.run("location.hash = 'journey?delivery=99'")
	b.await("document.querySelector('#story .problem')?.textContent.includes('this delivery is forgotten')")
	b.clean(d)
}

// TestAnArrayInQuarantine shows what each event of an array would be.
func TestAnArrayInQuarantine(t *testing.T) {
	t.Parallel()
	b, d := browse(t), devOf(t, strings.Replace(shopPipeline, "epoch: 1\n", "epoch: 1\nbatches: true\n", 1))
	mustSend(t, d, order(7, 100))
	until(t, d, 1, 1)
	mustSend(t, d, `[`+order(8, 100)+`,`+order(7, 200)+`,{"type":"order.shipped"}]`)
	until(t, d, 2, 2)
	b.open(d)
	b.run("location.hash = 'quarantine'")
	b.await("document.querySelectorAll('[data-letter]').length === 1")
	b.run("document.querySelector('[data-letter]').click()")
	b.await("document.getElementById('letter').textContent.includes('The events of the message')")
	text := eval[string](b, "document.getElementById('letter').innerText")
	for _, want := range []string{"Conflict (digest-differs)", "ORDER#o-0007 / PLACED", "Poison (unknown-type)"} {
		must.Say(t, text, want)
	}
	b.clean(d)
}

// TestNegativeQuantiles shows that bars of negative numbers go to the other side of 0, as long as
// the numbers are, and that columns are in the order of pipeline.yaml.
func TestNegativeQuantiles(t *testing.T) {
	t.Parallel()
	b, d := browse(t), devOf(t, `ingot: 1
epoch: 1
type: flight
events:
  flight: {id: "{id}", at: "{at}", key: {pk: "FLIGHT#{id}", sk: "X"}}
aggregates:
  delays:
    since: 1
    by: {carrier: "{carrier}"}
    window: 1d
    from: {flight: {values: {minutes: histogram delay, flights: count, early: min delay}}}
`)
	for i, delay := range []int{-40, -10, 20} {
		for day := range 2 {
			mustSend(t, d, fmt.Sprintf(`{"id":"%d-%d","carrier":"C%d","delay":%d,"at":"2026-03-0%dT09:00:00Z"}`, i, day, i, delay, day+1))
		}
	}
	until(t, d, 6, 6)
	b.open(d)
	b.run("location.hash = 'totals'")
	b.await("document.querySelectorAll('.groups .bar').length === 3")
	must.Equal(t, eval[string](b,
		"[...document.querySelectorAll('.groups th')].map((th) => th.textContent).join()"), "carrier,minutes,share,flights,early,windows")
	// Each bar begins or ends in the middle of its place.
	type bar struct{ From, To float64 }
	bars := eval[[]bar](b, `[...document.querySelectorAll('.groups .bar')].map((place) => {
		const whole = place.getBoundingClientRect(), bar = place.firstChild.getBoundingClientRect();
		return {From: (bar.left - whole.left) / whole.width, To: (bar.right - whole.left) / whole.width};
	})`)
	near := func(a, b float64) bool { return a > b-0.02 && a < b+0.02 }
	for i, want := range []bar{{0.5, 0.75}, {0.375, 0.5}, {0, 0.5}} {
		if !near(bars[i].From, want.From) || !near(bars[i].To, want.To) {
			t.Errorf("bar %d is at %+v, want %+v", i, bars[i], want)
		}
	}
	b.run("[...document.querySelectorAll('.groups button')].find((one) => one.textContent === 'C1').click()")
	b.await("document.querySelector('.chart canvas')")
	must.Equal(t, eval[string](b,
		"[...document.querySelectorAll('table th')].map((th) => th.textContent).join()"), "window,minutes,flights,early,events")
	b.picture("negative")
	b.clean(d)
}

// rate is how many events a second the console must stay smooth with.
const eventsASecond = 2000

// TestSmooth feeds 2,000 events a second through the whole pipeline while the page Flow is open.
// The page counts its own frames for ten seconds, and how long each of its tasks takes.
//
// The events are real: they go through queue, functions and tables in this process, on the same
// processors as the browser. So the rate that is reached is printed too. A frame is late if it
// comes more than 100 ms after the one before: that is when a person notices.
func TestSmooth(t *testing.T) {
	slow.Test(t, "it watches the page for ten seconds under load")
	b, d := browse(t), shop(t)
	b.open(d)
	b.await("document.querySelector('.chart canvas') !== null")
	ctx, cancel := context.WithCancel(t.Context())
	var sent atomic.Int64
	done := make(chan error, 1)
	go func() { done <- generate(ctx, &sent, func(n int) error { return send(ctx, d, orders(n, 100)...) }) }()
	b.await("[...document.querySelectorAll('.stations .big')].some((e) => Number(e.textContent.replaceAll(',', '')) > 2000)")
	smooth := false
	for range 3 { // other tests run beside this one, and may hold up a look, but not every one
		before := sent.Load()
		s := b.smoothness()
		rate := float64(sent.Load()-before) / s.Seconds
		t.Logf("%.0f events a second: %.1f frames a second, %d of %d late, %d tasks over 50 ms, the longest %.0f ms; an answer has at "+
			"most %.0f bytes",
			rate, float64(s.Frames)/s.Seconds, s.Late, s.Frames, s.Tasks, s.Longest, s.Bytes)
		if s.Bytes > 64<<10 || s.Bytes == 0 {
			t.Errorf("an answer has %.0f bytes; it should not grow with the events", s.Bytes)
		}
		if smooth = rate < eventsASecond*9/10 || s.Late <= s.Frames/50 && s.Longest <= 200; smooth {
			break
		}
	}
	if !smooth {
		t.Error("it is not smooth")
	}
	cancel()
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	b.clean(d)
}

// smoothness is what a page has shown in some seconds: times are in ms.
type smoothness struct {
	Frames, Late, Tasks int
	Longest, Seconds    float64
	Bytes               float64
}

// smoothness looks at the page for ten seconds.
func (b *tab) smoothness() smoothness {
	return eval[smoothness](b, `new Promise((done) => {
		const out = {Frames: 0, Late: 0, Tasks: 0, Longest: 0, Seconds: 0, Bytes: 0};
		new PerformanceObserver((list) => { for (const e of list.getEntries()) { out.Tasks++; out.Longest = Math.max(out.Longest, e.duration); } }).observe({type: "longtask"});
		new PerformanceObserver((list) => { for (const e of list.getEntries()) out.Bytes = Math.max(out.Bytes, e.decodedBodySize); }).observe({type: "resource"});
		const began = performance.now();
		let last = began;
		const frame = (now) => {
			out.Frames++;
			if (now - last > 100) out.Late++;
			last = now;
			if (now - began < 10000) requestAnimationFrame(frame);
			else { out.Seconds = (now - began) / 1000; done(out); }
		};
		requestAnimationFrame(frame);
	})`)
}

func orders(from, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = order(from+i, 100)
	}
	return list
}

// generate sends 100 events each twentieth of a second.
func generate(ctx context.Context, sent *atomic.Int64, send func(from int) error) error {
	tick := time.NewTicker(time.Second * 100 / eventsASecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
		if err := send(int(sent.Load())); err != nil {
			return fmt.Errorf("after %d events: %w", sent.Load(), err)
		}
		sent.Add(100)
	}
}

// TestHiddenPageAsksNothing shows that a page that nobody sees does not poll.
func TestHiddenPageAsksNothing(t *testing.T) {
	b, d := browse(t), shop(t)
	b.open(d)
	b.await("document.querySelector('.chart canvas') !== null")
	polls := func() int {
		b.mu.Lock()
		defer b.mu.Unlock()
		return b.paths["/api/flow"]
	}
	b.run(`{ globalThis.concealed = true; Object.defineProperty(document, "hidden", {get: () => globalThis.concealed}); document.dispatchEvent(new Event("visibilitychange")); }`)
	// One poll may be under way. The page's own clock then says that two would have followed.
	b.run("new Promise((done) => setTimeout(done, 1500))")
	before := polls()
	b.run("new Promise((done) => setTimeout(done, 2500))")
	must.Equal(t, polls()-before, 0)
	b.run(`{ globalThis.concealed = false; document.dispatchEvent(new Event("visibilitychange")); }`)
	b.await("performance.now() > 0")
	b.run("new Promise((done) => setTimeout(done, 1500))")
	if polls() == before {
		t.Error("it does not go on when it is seen again")
	}
	must.Say(t, eval[string](b, "document.getElementById('main').innerText"), "the last two minutes")
}

// Under the pointer, the chart says its numbers. Messages of every verdict that ends in quarantine
// are drawn.
func TestChartSaysItsNumbers(t *testing.T) {
	t.Parallel()
	b, d := browse(t), shop(t)
	fillShop(t, d)
	b.size(1280, 900)
	b.open(d)
	b.await("/ 301 stored, .* 5 quarantined/.test(document.querySelector('.chart')?.getAttribute('aria-label'))")
	// The pointer moves over the whole chart. Each second is counted once.
	said := eval[[]int](b, `(() => {
		const over = document.querySelector('.u-over'), at = over.getBoundingClientRect(), seconds = new Map();
		for (let x = at.left; x < at.right; x++) {
			over.dispatchEvent(new MouseEvent('mousemove', {clientX: x, clientY: at.top + 50, bubbles: true}));
			const tip = document.querySelector('.tip');
			seconds.set(tip.querySelector('strong').textContent, [...tip.querySelectorAll('b')].map((one) => Number(one.textContent)));
		}
		return [...seconds.values()].reduce((all, one) => all.map((n, i) => n + one[i]), [0, 0, 0, 0]);
	})()`)
	must.Match(t, said, []int{346, 301, 40, 5})
	for i, v := range verdicts() {
		must.Equal(t, event.Verdicts[i].Quarantined(), (v.Line == "quarantined"), v.Name, v.Line)
	}
	b.run("document.querySelector('.u-over').dispatchEvent(new MouseEvent('mouseleave'))")
	b.await("document.querySelector('.tip').hidden")
	b.clean(d)
}
