package main

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/operate"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// A trial of ingot dev says what that does not show. Where others have stored events, or while
// nothing is stored, it does nothing.
func TestTry(t *testing.T) {
	w := newDevWorld(t)
	got := w.run(0, "try --local --number 6 --limit 2h")
	got.prints(t, "where     ingot dev, which has no IAM", "\nright      events are stored: 6 of 6").lacks(t, "\nwrong")
	var r operate.Tried
	got = w.run(0, "try --local --number 6 --limit 2h --output json")
	got.reads(t, &r)
	if len(r.Checks) < 9 || r.Sent < 9 || r.Where == "" || r.Version == "" {
		t.Errorf("%+v", r)
	}
	w.run(exitUsage, "try --local --number 0")
	w.run(0, "pause --local")
	must.Say(t, w.run(exitRefused, "try --local").errors, "nothing would be stored")
	w.run(0, "resume --local")
	w.send(0, oldSale)
	must.Say(t, w.run(exitRefused, "try --local").errors, "would still be there: totals of ", "add --yes")
	w.run(0, "try --local --number 6 --limit 2h --yes")
}
