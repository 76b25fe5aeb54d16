package docs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// sessions returns the pipeline of docs/pipeline.md whose events say when they expire, with one
// change and a pattern.
func sessions(t *testing.T, old, new string) *pipeline.Pipeline {
	t.Helper()
	text := blockWith(t, pipelinePage, "yaml pipeline", "expires:") + "patterns:\n  session: {read: [session.opened]}\n"
	return written.Pipeline(t, strings.Replace(text, old, new, 1))
}

var ofSession = query.Ask{Values: map[string][]string{"session": {"s1"}}}

// counted returns how many sessions of the user the total says.
func counted(w *ingottest.World) int64 {
	return w.Total("sessions", map[string]string{"user": "u"}, time.Time{}).N
}

func openedSession(session string, at time.Time, expires string) string {
	return fmt.Sprintf(`{"type":"session.opened","session":%q,"user":"u","opened_at":%q%s}`, session, at.Format(time.RFC3339), expires)
}

func ending(at time.Time) string { return fmt.Sprintf(`,"expires_at":%q`, at.Format(time.RFC3339)) }

// TestExpires runs the sessions of docs/pipeline.md, also with an atomic part, with their payload
// in the bucket, and several in an array. One of 90 minutes is stored, found and counted, hidden at
// its time, and archived when it is removed. Its total falls then, and it never comes back.
func TestExpires(t *testing.T) {
	const typ = "events:\n  session.opened:\n"
	for name, change := range map[string]string{
		"plain":   typ,
		"array":   "batches: true\n" + typ,
		"offload": typ + "    offload: {over: 1KB}\n",
		"atomic": "events:\n  session.seat:\n    part: {of: session.opened, with: [user]}\n    id: \"{user}\"\n" +
			"    key: {pk: \"USER#{user}\", sk: SEAT}\n" + "  session.opened:\n    atomic: true\n",
	} {
		p := sessions(t, typ, change)
		ingottest.EveryFault(t, ingottest.Config{Pipeline: p}, func(t *testing.T, w *ingottest.World) {
			first := openedSession("s1", w.Now(), ending(w.Now().Add(90*time.Minute))+`,"note":"`+strings.Repeat("x", 1100)+`"`)
			if name == "array" {
				first = "[" + first + "]"
			}
			found := func(want int) {
				t.Helper()
				got := w.Read("session", ofSession)
				if n := counted(w); len(got.Items) != want || n > 1 {
					t.Errorf("%s: %d found, the total says %d", name, len(got.Items), n)
				}
			}
			handled(w, first)
			found(1)
			w.Advance(90*time.Minute - w.Now().Sub(w.Now().Truncate(time.Second)))
			found(0)
			w.Sweep()
			w.Drain()
			handled(w, first)
			found(0)
			if n := counted(w); n != 0 || len(w.Items()) != 0 {
				t.Errorf("%s: after it was removed, the total says %d, and %d are stored", name, n, len(w.Items()))
			}
			if len(w.Archived()) == 0 {
				t.Errorf("%s: it is not archived", name)
			}
			w.Verify()
		})
	}
}

// Each value of expires has one verdict and reason, as the table of the page says.
func TestValuesOfExpires(t *testing.T) {
	p := sessions(t, "", "")
	w := ingottest.New(t, ingottest.Config{Pipeline: p})
	for i, c := range []struct {
		expires string
		want    event.Reason
	}{
		{"", event.MissingField}, {`,"expires_at":null`, event.MissingField}, {`,"expires_at":"soon"`, event.BadTime},
		{`,"expires_at":9999999999999`, event.BadTime}, {`,"expires_at":"9999-12-31T23:59:59Z"`, event.BadTime},
		{ending(w.Now().Add(24*time.Hour + time.Second)), event.BadTime},
		{`,"expires_at":"10000-01-01T00:00:00Z"`, event.BadTime},
		{`,"expires_at":"1970-01-01T00:00:00Z"`, event.PastExpiry},
		{`,"expires_at":"1969-01-01T00:00:00Z"`, event.BadTime}, {ending(w.Now().Add(-time.Hour)), event.PastExpiry},
		{ending(w.Now().Add(10 * time.Minute)), event.PastExpiry},
	} {
		handled(w, openedSession(fmt.Sprint(i), w.Now(), c.expires))
		letters := w.Quarantined()
		if len(letters) != i+1 || letters[i].Reason != c.want {
			t.Errorf("%s: %+v, want %s", c.expires, letters[len(letters)-1], c.want)
		}
	}
	w.Send(openedSession("edge", w.Now(), ending(w.Now().Add(24*time.Hour))))
	handled(w, openedSession("short", w.Now(), ending(w.Now().Add(11*time.Minute))))
	must.Equal(t, len(w.Items()), 2)
	item, err := p.Plan(envelope.Message{Body: openedSession("edge", w.Now(), ending(w.Now().Add(time.Hour)))})
	must.Succeed(t, err)
	must.Equal(t, item.ExpiresAt, w.Now().Add(time.Hour).Unix())
}

// Under mode latest, a revision may end a session now, and a newer one may prolong it. The total
// keeps it until retain is over.
func TestExpiresOfRevisions(t *testing.T) {
	p := sessions(t, "  session.opened:\n", "  session.opened:\n    mode: latest\n    revision: version number\n")
	ingottest.EveryFault(t, ingottest.Config{Pipeline: p}, func(t *testing.T, w *ingottest.World) {
		opened := w.Now()
		send := func(version int, expires time.Time) {
			revision := fmt.Sprintf(`,"version":%d,"note":%q`, version, strings.Repeat("x", 1100))
			handled(w, openedSession("s1", opened, ending(expires)+revision))
		}
		is := func(found int, stored int64) {
			t.Helper()
			ask := ofSession
			ask.Expired = true
			must.Equal(t, len(w.Read("session", ofSession).Items), found, "found")
			must.Equal(t, int64(len(w.Read("session", ask).Items)), stored, "stored")
			must.Equal(t, counted(w), stored, "the total")
		}
		send(1, opened.Add(90*time.Minute))
		is(1, 1)
		w.Advance(10 * time.Minute)
		send(2, w.Now()) // it ends now
		is(0, 1)
		send(1, opened.Add(90*time.Minute)) // an older one, late
		is(0, 1)
		send(3, w.Now().Add(20*time.Minute))
		is(1, 1)
		w.Advance(21 * time.Minute)
		is(0, 1)
		w.Advance(24 * time.Hour)
		w.Sweep()
		w.Drain()
		is(0, 0)
		w.Verify()
	})
}
