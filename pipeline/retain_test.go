package pipeline

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
)

// kept returns a pipeline of one type with this lifetime: "retain: 30d, was: […]", or nothing.
func kept(t *testing.T, lifetime string) *Pipeline {
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
func expiryOf(t *testing.T, p *Pipeline, at time.Time) time.Time {
	t.Helper()
	item, err := p.Plan(envelope.Message{Body: fmt.Sprintf(`{"n":1,"t":%q}`, at.Format(time.RFC3339Nano))})
	if err != nil {
		t.Fatal(err)
	}
	if item.ExpiresAt == 0 {
		return time.Time{}
	}
	return time.Unix(item.ExpiresAt, 0).UTC()
}

func TestWasShortensEarlierEvents(t *testing.T) {
	before := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		lifetime string
		at       time.Time
		want     time.Duration // 0: never
	}{
		{"retain: 90d; was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]", before.Add(-time.Nanosecond), 30 * lifetime.Day},
		{"retain: 90d; was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]", before, 90 * lifetime.Day},
		{"retain: 90d; was: [{retain: 30d, before: 2026-03-03T02:00:00+02:00}]", before.Add(-time.Hour), 30 * lifetime.Day},
		{"was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]", before.Add(-time.Hour), 30 * lifetime.Day},
		{"was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]", before.Add(time.Hour), 0},
		{"retain: 10d; was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]", before.Add(-time.Hour), 10 * lifetime.Day},
		{"retain: 90d; was: [{retain: 50d, before: 2026-03-03T00:00:00Z}, {retain: 30d, before: 2026-01-01T00:00:00Z}]",
			before.Add(-time.Hour), 50 * lifetime.Day},
		{"retain: 90d; was: [{retain: 50d, before: 2026-03-03T00:00:00Z}, {retain: 30d, before: 2026-01-01T00:00:00Z}]",
			before.Add(-100 * lifetime.Day), 30 * lifetime.Day},
		{"retain: 90d; was: [{retain: 30d, before: 2026-03-03T00:00:00Z}, {retain: 50d, before: 2026-01-01T00:00:00Z}]",
			before.Add(-100 * lifetime.Day), 30 * lifetime.Day},
	} {
		want := time.Time{}
		if c.want != 0 {
			want = c.at.Add(c.want + time.Second - 1).Truncate(time.Second).UTC()
		}
		if got := expiryOf(t, kept(t, c.lifetime), c.at); !got.Equal(want) {
			t.Errorf("%s, at %s: %s, want %s", c.lifetime, c.at, got, want)
		}
	}
}

func TestMistakesInWas(t *testing.T) {
	for _, c := range []struct{ was, want string }{
		{"was: 30d", "was is text, not a list; write [{retain: 30d, before: 2026-03-01T00:00:00Z}]"},
		{"was: [30d]", "was[0] is text, not a mapping; write {retain: 30d, before: 2026-03-01T00:00:00Z}"},
		{"was: [{retain: 30d}]", "before is missing in was[0]; write before: 2026-03-01T00:00:00Z"},
		{"was: [{before: 2026-03-01T00:00:00Z}]", "retain is missing in was[0]; write retain: 30d"},
		{"was: [{retain: 30d, before: 2026-03-01}]",
			`"2026-03-01" is not an RFC 3339 time like 2024-03-05T14:07:31.5Z: its time of day is wrong or missing; write a time as in 2026-03-01T00:00:00Z`},
		{"was: [{retain: 30d, before: 7}]", "before is a number, not a time; write a time as in 2026-03-01T00:00:00Z"},
		{"was: [{retain: 59m, before: 2026-03-01T00:00:00Z}]", "retain is less than 1h; write at least 1h"},
		{"was: [{retain: 30d, befor: 2026-03-01T00:00:00Z}]", "unknown name befor; write before"},
	} {
		_, err := loadText(keptText("retain: 90d; " + c.was))
		if err == nil || !strings.HasSuffix(err.Error(), ": "+c.want) {
			t.Errorf("%s: %v, want %s", c.was, err, c.want)
		}
	}
	s := goBase()
	e := s.Events["placed"]
	e.Was = []WasSpec{{Retain: 30 * lifetime.Day}}
	s.Events["placed"] = e
	if _, err := New(s); err == nil || !strings.Contains(err.Error(), "events.placed.was.0.before: before is missing in was[0]") {
		t.Error(err)
	}
	p := mustLoad(t, keptText("retain: 30d; was: [{retain: 30d, before: 2026-03-01T00:00:00Z}]"))
	if w := p.Describe().Warnings; len(w) != 1 || !strings.Contains(w[0].What, "was[0] changes nothing: today's retain is as short") {
		t.Error(w)
	}
}

func TestMistakesInExpires(t *testing.T) {
	for _, c := range []struct{ lifetime, want string }{
		{`expires: "{e}"`, "expires needs retain: the longest that an event may live; write retain: 30d beside it"},
		{`retain: 2d; expires: "2026-03-01T00:00:00Z"`, `a time is one value; write one field that has the whole time, such as "{placed_at}"`},
		{`retain: 2d; expires: "{@attribute.SentTimestamp}"`, "cannot"},
		{`retain: 2d; expires: "{@at}"`, "cannot"},
		{`retain: 2d; ignore: [e]; expires: "{e}"`,
			"expires uses e, which ignore leaves out of the digest of a; write another field, or ignore without e"},
		{`retain: 2d; mode: latest; revision: n number; was: [{expires: "{e}", before: 2026-03-01T00:00:00Z}]`,
			"was[0] has expires, and under mode latest no item is removed by it; write the file without it"},
		{`retain: 2d; was: [{retain: 1d, expires: "{e}", before: 2026-03-01T00:00:00Z}]`,
			"was[0] has retain and expires; write two entries, one with each"},
		{`retain: 2d; ignore: [e]; was: [{expires: "{e}", before: 2026-03-01T00:00:00Z}]`,
			"expires uses e, which ignore leaves out of the digest of a; write another field, or ignore without e"},
	} {
		_, err := loadText(keptText(c.lifetime))
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.lifetime, err, c.want)
		}
	}
	whole := strings.Replace(keptText(`retain: 2d; expires: "{e}"`), "events:\n",
		"events:\n  b: {part: {of: a}, id: \"{n}\", key: {pk: \"B#{n}\", sk: \"-\"}, expires: \"{e}\"}\n", 1)
	if _, err := loadText(strings.Replace(whole, "of: a", "of: a, with: [n, e]", 1)); err == nil ||
		!strings.HasSuffix(err.Error(), "expires stands in a part, and a part expires with its whole; write expires in a") {
		t.Error(err)
	}
	was := `retain: 2d; expires: "{e}"; was: [{expires: "{f | unix}", before: 2026-03-01T00:00:00Z}]`
	p := mustLoad(t, keptText(was))
	e := p.Describe().Spec.Events["a"]
	must.Equal(t, e.Expires+" "+e.Was[0].Expires, "{e} {f|unix}")
	again, err := New(p.Describe().Spec)
	must.Succeed(t, err)
	must.Match(t, again.Describe().Spec, p.Describe().Spec)
}

// The shortest life of the events of a window is that of the type that lives least, as the file
// says of that time.
func TestShortestRetain(t *testing.T) {
	text := keptText("retain: 90d; was: [{retain: 30d, before: 2026-03-03T00:00:00Z}]") +
		"  b:\n    id: \"{n}\"\n    at: \"{t}\"\n    key: {pk: \"B#{n}\", sk: \"-\"}\n    retain: 60d\n" +
		"  c:\n    id: \"{n}\"\n    at: \"{t}\"\n    key: {pk: \"C#{n}\", sk: \"-\"}\n" +
		"aggregates:\n" +
		"  both: {since: 1, window: 1d, from: {a: {values: {n1: count}}, b: {values: {n1: count}}}}\n" +
		"  ever: {since: 1, window: 1d, from: {c: {values: {n1: count}}}}\n" +
		"  some: {since: 1, window: 1d, from: {b: {values: {n1: count}}, c: {values: {n1: count}}}}\n"
	p := mustLoad(t, text)
	before := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name string
		from time.Time
		want time.Duration
	}{
		{"both", before.Add(-time.Second), 30 * lifetime.Day}, {"both", before, 60 * lifetime.Day},
		{"both", time.Time{}, 30 * lifetime.Day},
		{"ever", before, 0}, {"some", before, 60 * lifetime.Day},
	} {
		def, _ := p.Definition(c.name)
		if got := p.ShortestRetain(def, c.from); got != c.want {
			t.Errorf("%s from %s: %v, want %v", c.name, c.from, got, c.want)
		}
	}
}
