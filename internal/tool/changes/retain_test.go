package changes

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/pipeline"
)

// kept returns a pipeline of one type with this lifetime: "retain: 30d, was: […]", or nothing.
func kept(t *testing.T, lifetime string) *pipeline.Pipeline {
	t.Helper()
	return mustLoad(t, keptText(lifetime))
}

func keptText(lifetime string) string {
	text := "ingot: 1\nepoch: 1\ntype: a\nevents:\n  a:\n    id: \"{n}\"\n    at: \"{t}\"\n    key: {pk: \"{n}\", sk: \"-\"}\n"
	for line := range strings.SplitSeq(lifetime, "; ") {
		if line != "" {
			text += "    " + line + "\n"
		}
	}
	return text
}

// expiryOf returns when the file lets an event of time at expire. The zero time means never.
func expiryOf(t *testing.T, p *pipeline.Pipeline, at time.Time) time.Time {
	t.Helper()
	hour := at.Unix() / 3600
	after := func(hours int64) string { return at.Add(time.Duration(hours) * time.Hour).Format(time.RFC3339Nano) }
	item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(`{"n":1,"t":%q,"e":%q,"f":%q}`, after(0), after(5+hour%7*8),
		after(5+hour%11*7))})
	must.Succeed(t, err)
	if item.ExpiresAt == 0 {
		return time.Time{}
	}
	return time.Unix(item.ExpiresAt, 0).UTC()
}

func TestChangesOfRetain(t *testing.T) {
	const demanded, drained = "write was: ", "drain the queue before deploying"
	for _, c := range []struct{ name, old, new, want string }{
		{"the same", "retain: 30d", "retain: 30d", ""},
		{"raised", "retain: 30d", "retain: 90d", "retain was 30d and is 90d; write was: [{retain: 30d, before: 2026-03-03T00:00:00Z}] in"},
		{"dropped", "retain: 30d", "", "retain was 30d and is not there; write was: [{retain: 30d, before: 2026-03-03T00:00:00Z}] in"},
		{"raised as it should be", "retain: 30d", "retain: 90d; was: [{retain: 30d, before: 2026-03-01T10:00:01Z}]", ""},
		{"raised with a time that is past", "retain: 30d", "retain: 90d; was: [{retain: 30d, before: 2026-03-01T10:00:00Z}]",
			"retain was 30d and is 90d; write was: [{retain: 30d, before: 2026-03-03"},
		{"raised with a lifetime too long", "retain: 30d", "retain: 90d; was: [{retain: 31d, before: 2026-04-01T00:00:00Z}]",
			"retain was 30d and is 90d; write was: [{retain: 30d, before: 2026-03-03T00:00:00Z}, {retain: 31d, before: " +
				"2026-04-01T00:00:00Z}] in"},
		{"deployed again when that time is past", "retain: 90d; was: [{retain: 30d, before: 2026-01-01T00:00:00Z}]",
			"retain: 90d; was: [{retain: 30d, before: 2026-01-01T00:00:00Z}]", ""},
		{"raised twice", "retain: 60d; was: [{retain: 30d, before: 2026-01-01T00:00:00Z}]",
			"retain: 90d; was: [{retain: 60d, before: 2026-03-02T00:00:00Z}]",
			"retain was 60d and is 90d; write was: [{retain: 30d, before: 2026-01-01T00:00:00Z}, {retain: 60d, before: " +
				"2026-03-03T00:00:00Z}] in"},
		{"raised after it was lowered", "retain: 30d", "retain: 60d; was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]", ""},
		{"an entry taken out while it matters", "retain: 90d; was: [{retain: 30d, before: 2026-01-01T00:00:00Z}]", "retain: 90d",
			"was was [{retain: 30d, before: 2026-01-01T00:00:00Z}] and is not there; write was: [{retain: 30d, before: " +
				"2026-01-01T00:00:00Z}] in"},
		{"an entry taken out when all its events are past their time", "retain: 90d; was: [{retain: 30d, before: 2025-12-01T10:00:00Z}]",
			"retain: 90d", ""},
		{"an entry taken out where events never expire", "was: [{retain: 30d, before: 2016-12-01T10:00:00Z}]", "",
			"was was [{retain: 30d, before: 2016-12-01T10:00:00Z}] and is not there; write was: [{retain: 30d, before: 2016"},
		{"lowered", "retain: 90d", "retain: 30d", "retain was 90d and is 30d; " + drained},
		{"introduced", "", "retain: 30d", "retain was not there and is 30d; " + drained},
		{"lowered for earlier events", "retain: 90d", "retain: 90d; was: [{retain: 30d, before: 2026-04-01T00:00:00Z}]",
			"was was not there and is [{retain: 30d, before: 2026-04-01T00:00:00Z}]; " + drained},
	} {
		var got []string
		for _, r := range Between(kept(t, c.old), kept(t, c.new), deployed) {
			got = append(got, strings.TrimPrefix(r.String(), "events.a: "))
		}
		if c.want == "" && len(got) > 0 || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
			t.Errorf("%s:\n got %q\nwant %s…", c.name, got, c.want)
		}
		if len(got) == 0 || !strings.Contains(got[0], demanded) {
			continue
		}
		// What the message shows is accepted exactly as it is written.
		if again := Between(kept(t, c.old), kept(t, pasted(c.new, got[0])), deployed); len(again) > 0 {
			t.Errorf("%s: pasted, %v", c.name, again)
		}
	}
}

// A later time is a later expiry. So a change of at can bring an expired event back, as a longer
// retain can. Draining the queue does not help.
func TestChangeOfTimeNamesWhatHasExpired(t *testing.T) {
	const said = "whether the queue is drained or not"
	for lifetime, want := range map[string]bool{"": false, "retain: 30d": true,
		"was: [{retain: 30d, before: 2026-01-01T00:00:00Z}]": true} {
		changed := mustLoad(t, strings.Replace(keptText(lifetime), "{t}", "{sent}", 1))
		reports := Between(kept(t, lifetime), changed, deployed)
		if len(reports) != 1 || reports[0].Member != "at" || !strings.HasPrefix(reports[0].Do, "drain the queue") ||
			strings.Contains(reports[0].Do, said) != want {
			t.Errorf("%q: %v", lifetime, reports)
		}
	}
}

var shownWas = regexp.MustCompile(`write (was: \[.*\]) in this event type`)

// pasted returns a lifetime in which the was of a message replaces its own.
func pasted(lifetime, message string) string {
	own, _, _ := strings.Cut(lifetime, "was: ")
	return strings.TrimSuffix(own, "; ") + "; " + shownWas.FindStringSubmatch(message)[1]
}

// A service that changes retain again and again, as the messages advise, never stores an event
// twice. The event may come however late: after it was swept before a change, or after it was swept
// after one.
func TestNoChangeOfRetainForgetsAnExpiry(t *testing.T) {
	seed := replay.Seed(t, 0)
	rng := rand.New(rand.NewPCG(seed, 1))
	for world := range 300 {
		twice, history := changesOfRetain(t, rng)
		if twice != "" {
			t.Fatalf("world %d: %s\n%s", world, twice, strings.Join(history, "\n"))
		}
	}
}

// changesOfRetain plays a service that goes through some changes of retain. Between them it
// stores some events, which are sent again at any time.
func changesOfRetain(t *testing.T, rng *rand.Rand) (twice string, history []string) {
	lifetimes := []string{"retain: 2d", "retain: 5d", "retain: 9d", "retain: 14d", "", `retain: 9d; expires: "{e}"`,
		`retain: 5d; expires: "{f}"`}
	lifetime := lifetimes[rng.IntN(len(lifetimes))]
	p := kept(t, lifetime)
	type stored struct{ at, until time.Time } // zero: never removed
	var events []stored
	now := deployed
	for range 5 {
		for range 8 { // some hours between changes, with old and new events
			now = now.Add(time.Duration(rng.IntN(24)) * time.Hour)
			at := now.Add(-time.Duration(rng.IntN(200)) * time.Hour)
			if until := expiryOf(t, p, at); until.IsZero() || until.After(now.Add(time.Hour)) {
				events = append(events, stored{at, until})
			}
			for _, e := range events {
				swept := !e.until.IsZero() && e.until.Before(now)
				if again := expiryOf(t, p, e.at); swept && (again.IsZero() || again.After(now.Add(time.Hour))) {
					return fmt.Sprintf("the event of %s was swept at %s and is stored again at %s", e.at, e.until, now), history
				}
			}
		}
		next := lifetimes[rng.IntN(len(lifetimes))]
		if _, was, has := strings.Cut(lifetime, "was: "); has && rng.IntN(2) == 0 {
			next = strings.TrimPrefix(next+"; was: "+was, "; ") // otherwise it is forgotten, and the message brings it back
		}
		changed := kept(t, next)
		for _, r := range Between(p, changed, now) {
			if strings.HasPrefix(r.Do, "write was: ") {
				next = strings.TrimPrefix(pasted(next, r.String()), "; ")
				changed = kept(t, next)
			}
		}
		lifetime, p = next, changed
		history = append(history, now.Format(time.RFC3339)+" "+lifetime)
	}
	return "", history
}
