package handler_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/replay"
	"github.com/ingot-events/ingot/pipeline"
)

// accounts adds an account that claims its email address, and which may have another address too.
func accounts(s *setup) {
	s.spec.Events["account"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "ACCOUNT#{id}", SK: "ACCOUNT"},
		Retain: 90 * 24 * time.Hour, Atomic: true}
	s.spec.Events["email"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "account", With: []string{"email"}}, ID: "{email}",
		Key: pipeline.KeySpec{PK: "EMAIL#{email}", SK: "CLAIM"}}
	s.spec.Events["device"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "account", Each: "devices", With: []string{"id"}},
		ID: "{id}#{n}", Key: pipeline.KeySpec{PK: "ACCOUNT#{id}", SK: "DEVICE#{n}"}}
}

func account(id, email string, devices ...int) string {
	list := make([]string, len(devices))
	for i, n := range devices {
		list[i] = fmt.Sprintf(`{"n":%d}`, n)
	}
	return fmt.Sprintf(`{"type":"account","id":%q,"at":"2099-03-01T10:00:00Z","email":%q,"devices":[%s]}`, id, email,
		strings.Join(list, ","))
}

// Two spellings of a value are one claim if the claim folds them: the first account has it. A plain
// map says which that is.
func TestFoldedClaims(t *testing.T) {
	rng := rand.New(rand.NewPCG(replay.Seed(t, 0), 1))
	w := newWorld(t, accounts, func(s *setup) {
		email := s.spec.Events["email"]
		email.ID, email.Key.PK = "{email | strip | lower}", "EMAIL#{email | strip | lower}"
		s.spec.Events["email"] = email
	})
	owners, sent, seen := map[string]string{}, map[string]string{}, map[event.Verdict]int{}
	for range 150 {
		id := fmt.Sprint(rng.IntN(60))
		if sent[id] == "" {
			sent[id] = []string{"", " ", "\u00a0"}[rng.IntN(3)] + []string{"Ann", "ann", "ANN", "bob", "Bob"}[rng.IntN(5)] +
				fmt.Sprintf("%d@x.com", rng.IntN(20))
		}
		plain := strings.ToLower(strings.TrimSpace(sent[id]))
		owner, taken := owners[plain]
		want := event.Inserted
		switch {
		case owner == id:
			want = event.Duplicate
		case taken:
			want = event.Conflict
		default:
			owners[plain] = id
		}
		must.Equal(t, w.receive(messages(account(id, sent[id]))), failures())
		if got := w.outcomes[len(w.outcomes)-1]; got.Verdict != want || want == event.Conflict && got.Refusal.Reason != event.Claimed {
			t.Fatalf("account %s with %q, which %q has: %s %v, want %s", id, sent[id], owner, got.Verdict, got.Refusal, want)
		}
		seen[want]++
	}
	must.Equal(t, len(w.items()), 2*len(owners))
	if seen[event.Duplicate] < 10 || seen[event.Conflict] < 10 || seen[event.Inserted] < 10 {
		t.Errorf("%v: the test says little", seen)
	}
}

// An atomic message is one verdict: all of it is stored or nothing. The second owner of a value
// goes to quarantine, with a note that names the value, and so does what no transaction could put.
func TestIngestAtomic(t *testing.T) {
	many := make([]int, 99)
	for i := range many {
		many[i] = i
	}
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, accounts, func(s *setup) { s.store.Concurrency = 1 }) // so that a claims before b does
		e := messages(account("a", "x@y", 1, 2), order("1", 1), account("b", "x@y", 3), account("a", "x@y", 1, 2),
			account("c", "c@y", many...), account("d", "d@y", 1, 1), account("e", "e@y", many[:98]...))
		must.Equal(t, w.receive(inGroup(e, queue)), failures())
		must.Equal(t, tally(w.batches[0].Verdicts[:]), "Inserted 3, Duplicate 1, Conflict 1, Poison 2")
		must.Equal(t, tally(w.batches[0].Parts[:]), "Inserted 102, Duplicate 3")
		must.Equal(t, len(w.items()), 4+1+100)
		var notes []string
		for _, o := range w.outcomes {
			if o.Refusal != nil {
				notes = append(notes, string(o.Refusal.Reason)+" "+o.Refusal.Key.PK+": "+o.Refusal.Detail)
			}
		}
		must.Match(t, notes, []string{"claimed EMAIL#x@y: email \"x@y\" is taken: another account holds it",
			"too-many-parts ACCOUNT#c: the message yields 101 items with its whole, and account is atomic: a transaction puts at " +
				"most 100 items",
			"parts-clash ACCOUNT#d: part device: devices[0] and devices[1] have the same key"})
		must.Equal(t, len(w.quarantined()), 3)
	}
}
