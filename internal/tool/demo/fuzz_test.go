package demo

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// FuzzLines reads a file of events. It must return the lines in order with their numbers, except
// for blank lines.
func FuzzLines(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{"{}\n{}\n", "\r\n {\"a\":1} \r\n\r\n{}", "", "\n", "a", "\ufeff{}", "{}\x00\n\xff"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
		next := 0
		for line, err := range readLines(strings.NewReader(text)) {
			if err != nil {
				t.Fatalf("line %d: %v", line.Number, err)
			}
			for next < len(lines) && strings.TrimSpace(lines[next]) == "" {
				next++
			}
			if next == len(lines) || line.Number != next+1 || line.Body != strings.TrimSpace(lines[next]) {
				t.Fatalf("line %d is %q; the file has %q", line.Number, line.Body, lines)
			}
			next++
		}
		if rest := lines[next:]; strings.TrimSpace(strings.Join(rest, "")) != "" {
			t.Fatalf("lines were not read: %q", rest)
		}
	})
}

// FuzzCopy makes copies of any event under any declaration. A copy must be strict JSON with another
// id. It may differ from the event only in the fields of id and time.
func FuzzCopy(f *testing.F) {
	corpus.Add(f)
	f.Add("{id}", "{at}", `{"id":"a","at":"2099-03-01T10:00:00Z","x":[1,2.50]}`)
	f.Add("{m}#{a.id}", "{t | unixms}", `{"m":"m","a":{"id":7},"t":1517363399650}`)
	f.Add("{ids[1]}", "{t | unix}", `{"ids":["a","b"],"t":"1517363399.5"}`)
	f.Add("{t}", "{t | unix}", `{"t":1e300000}`)
	f.Add("{a}", "{a.b | unix}", `{"a":{"b":0}}`)
	f.Fuzz(func(t *testing.T, id, at, body string) {
		c := copier{"e": newCopyRule(id, at)}
		text, err := c.copy(envelope.Message{Body: body}, "e", 2)
		if err != nil {
			if err.Error() == "" || text != "" {
				t.Fatalf("%q with %v", text, err)
			}
			return
		}
		made, err := event.ParseDocument(text)
		if err != nil {
			t.Fatalf("the copy %s of %s: %v", text, body, err)
		}
		was, err := event.ParseDocument(body)
		must.Succeed(t, err)
		r := c["e"]
		if !sameBut(was.Root(), made.Root(), event.Path{}, r) {
			t.Fatalf("the copy %s of %s differs in more than %s and %s", text, body, r.id, r.at)
		}
		// One field may be both. Then only one of the two edits can show.
		if old := was.Root().At(r.id); old.Exists() && !r.id.Contains(r.at) && !r.at.Contains(r.id) &&
			made.Root().At(r.id).Text() != old.Text()+"~2" {
			t.Fatalf("the copy %s of %s has not the id of another event", text, body)
		}
	})
}

// sameBut reports whether b equals a except in the two fields of a rule.
func sameBut(a, b event.Node, at event.Path, r copyRule) bool {
	if !at.IsZero() && (at.Equal(r.id) || at.Equal(r.at)) {
		return true
	}
	if a.Kind() != b.Kind() || a.Len() != b.Len() {
		return false
	}
	switch a.Kind() {
	case event.Object:
		for name, member := range a.Members() {
			if !sameBut(member, b.Member(name), at.Member(name), r) {
				return false
			}
		}
		return true
	case event.Array:
		for i := range a.Len() {
			if !sameBut(a.Index(i), b.Index(i), at.Index(i), r) {
				return false
			}
		}
		return true
	}
	return a.Raw() == b.Raw()
}
