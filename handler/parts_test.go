package handler_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// carts adds a whole with rows. All of them repeat the whole's note.
func carts(s *setup) {
	s.spec.Events["cart"] = pipeline.EventSpec{ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "CART#{id}", SK: "CART"},
		Retain: 90 * 24 * time.Hour}
	s.spec.Events["row"] = pipeline.EventSpec{Part: pipeline.PartSpec{Of: "cart", Each: "rows", With: []string{"id", "note"}},
		ID: "{id}#{n}", Key: pipeline.KeySpec{PK: "CART#{id}", SK: "ROW#{n}"}}
}

func cart(id, note string, rows int) string {
	list := make([]string, rows)
	for i := range list {
		list[i] = fmt.Sprintf(`{"n":%d}`, i)
	}
	return fmt.Sprintf(`{"type":"cart","id":%q,"at":"2099-03-01T10:00:00Z","note":%q,"rows":[%s]}`, id, note, strings.Join(list, ","))
}

// One message is one verdict, however many items it yields. A bad part stores nothing of its
// message and does not harm the others.
func TestIngestParts(t *testing.T) {
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, carts)
		e := messages(cart("a", "x", 3), order("1", 1), cart("b", "x", 0), strings.Replace(cart("c", "x", 2), `{"n":1}`, `{"n":0}`, 1),
			cart("a", "x", 3), cart("a", "y", 4))
		must.Equal(t, w.receive(inGroup(e, queue)), failures())
		must.Equal(t, tally(w.batches[0].Verdicts[:]), "Inserted 3, Duplicate 1, Conflict 1, Poison 1")
		must.Equal(t, tally(w.batches[0].Parts[:]), "Inserted 3, Duplicate 3")
		must.Equal(t, len(w.items()), 1+3+1+1)
		must.Equal(t, len(w.quarantined()), 2)
	}
}

// The parts of a batch may take much more than its messages. They are put in turns, and never wait
// in memory all together.
func TestIngestPutsPartsInTurns(t *testing.T) {
	w := newWorld(t, carts)
	note := strings.Repeat("n", 10_000)
	var bodies []string
	for i := range 8 {
		bodies = append(bodies, cart(fmt.Sprint(i), note, 350)) // 3.5 MB of parts each
	}
	w.seen = nil
	must.Equal(t, w.receive(messages(bodies...)), `{"batchItemFailures":[]}`)
	must.Equal(t, len(w.items()), 8*351)
	if puts := w.calls["PutItem"]; puts != 8 { // wholes by twos and threes; the engine counts each
		t.Errorf("%d wholes were put alone: they were not put in turns", puts)
	}
	for _, o := range w.outcomes {
		if o.Item.Parts.Count != 350 || o.Item.Parts.Items != nil {
			t.Error("an outcome keeps the parts of its message")
		}
	}
}

// When the time to write is over, the parts of further messages are not even planned: that would
// take the time that the answer needs. Such a message goes back untouched.
func TestIngestPlansNoPartsTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, carts)
		w.slow("BatchExecuteStatement")
		var bodies []string
		for i := range 8 {
			bodies = append(bodies, cart(fmt.Sprint(i), strings.Repeat("n", 10_000), 350))
		}
		w.outcomes = nil
		answer, err := w.handleQueue(timeout(t, 1500*time.Millisecond), messages(bodies...)) // one turn takes longer than the half of it
		if err != nil || len(answer.BatchItemFailures) < 5 || len(w.outcomes) != 8 {
			t.Fatalf("%d of %d messages go back: %v", len(answer.BatchItemFailures), len(w.outcomes), err)
		}
		untouched(t, w.outcomes[3:])
	})
}
