package moving

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/migrate"
)

// These are the promises of the way back.
const (
	Behind  stage.Check = "behind"  // after the turn, an event has no row, or another one
	Undying stage.Check = "undying" // after the turn, a row is there whose event is gone
)

// goBack lets producers, people and a forgotten job write while the old table is the copy, and then
// makes it the source again.
func (w *world) goBack() {
	w.Calm = w.still
	for account := range accounts {
		if w.Chance(0.5) {
			w.People(func() { w.produce(account) })
		}
	}
	if w.Chance(0.5) {
		w.People(func() { w.SleepUpTo(300); w.write(4) }) // a forgotten job
	}
	if w.Chance(0.4) {
		w.Spawn("eraser", nil, w.erase)
	}
	if w.Chance(0.3) {
		w.People(func() { w.SleepUpTo(300); w.pass() })
	}
	if w.rest(); w.Failure == nil {
		w.checkRows()
	}
	w.drop()
	w.People(w.pass)
	w.rest()
	w.compared(func(c *migrate.Compared) {
		if !c.Clean() {
			w.Fail(Missed, "after the turn, at rest, a comparison finds %+v", c)
		}
	})
	if w.rest(); w.Failure != nil {
		return
	}
	w.Calm, w.leaving, w.slow = w.still, true, many
	w.redeploy()
	for account := range accounts {
		if w.Chance(0.5) { // also while no side is written
			w.People(func() { w.SleepUpTo(1200); w.produce(account) })
		}
	}
	if w.Chance(0.3) {
		w.People(func() { w.SleepUpTo(900); w.write(2) }) // a forgotten job
	}
	w.People(func() {
		for w.Failure == nil {
			ctx := w.Within(time.Hour)
			if w.noteCaptured() == nil {
				if c, err := w.sync().Control(ctx); err == nil && c.Captured.After(c.Draining.Add(migrate.Quiet)) {
					w.disturb()
				}
				if w.Chance(0.5) { // a producer sends as the sides are exchanged
					w.People(func() { w.produce(w.Rng.IntN(accounts)) })
				}
				if state, err := w.sync().Back(ctx, migrate.Quiet); err == nil && state == migrate.Old {
					w.rowsAreSource()
					return
				}
			}
			w.compareAgain(ctx, migrate.New)
			w.compareAgain(ctx, migrate.Draining)
			w.Sleep(time.Duration(1+w.Rng.IntN(4)) * time.Minute)
		}
	})
	w.run(func() bool { return w.Working == 0 })
	if w.Failure != nil {
		return
	}
	w.checkRows()
	for key, data := range w.produced {
		if w.erased[key] || w.noise[rowKey(data)] {
			continue
		}
		if img := w.itemAt(key); img == nil || text(img["data"]) != data && version(text(img["data"])) <= version(data) {
			w.Fail(Lost, "%s is not %s, of which the producer was told that it is stored", key, data)
		}
	}
	w.produced, w.returned = map[string]string{}, true
	w.leaving, w.turning, w.backward, w.slow = false, false, false, few
	if slices.ContainsFunc(w.all(stack.Events), func(img migrate.Row) bool { return img["i:also"] != nil }) {
		w.People(w.pass) // it names a row that has gone since the first turn, when nobody wrote copies any more
	}
}

// rowsAreSource says that from now on nobody but applications may write the old table, and begins
// with one that does.
func (w *world) rowsAreSource() {
	w.wrote = map[string]string{}
	for _, row := range w.all(w.old.Table) {
		w.wrote[rowText(row)] = number(row["spent"])
	}
	if w.Chance(0.5) {
		w.People(func() {
			for range 6 {
				w.SleepUpTo(5)
				for _, name := range w.write(1) {
					w.noise[name] = true
				}
			}
		})
	}
}

// pass mends what differs, as an operator does.
func (w *world) pass() {
	if pass, err := w.sync().BeginPass(w.Within(time.Hour)); err == nil {
		pass.Run(w.Within(time.Hour), nil)
	}
	for c, err := w.sync().Control(context.Background()); w.Failure == nil && (err != nil || c.Filled < c.Pass); c, err = w.sync().Control(
		context.Background()) {
		pass, err := w.sync().BeginPass(context.Background())
		if err == nil {
			pass.Run(context.Background(), nil)
		}
		w.Sleep(time.Minute)
	}
}

func (w *world) itemAt(key string) migrate.Row {
	for _, img := range w.all(stack.Events) {
		if keyText(img) == key && img["type"] != nil {
			return img
		}
	}
	return nil
}

// rowKey returns the key of the row of an event with a payload.
func rowKey(data string) string {
	doc, err := event.ParseDocument(data)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("USER#%s %s", doc.Root().Member("user").Text(), doc.Root().Member("created").Text())
}

// checkRows compares the rows of the old table with the events of the new one.
func (w *world) checkRows() {
	rows := map[string]migrate.Row{}
	for _, row := range w.all(w.old.Table) {
		rows[rowText(row)] = row
	}
	for _, img := range w.all(stack.Events) {
		if img["type"] == nil || img["i:barred"] != nil {
			continue
		}
		doc, err := event.ParseDocument(text(img["data"]))
		w.Must(err)
		of := func(name string) string { return doc.Root().Member(name).Text() }
		key := rowKey(text(img["data"]))
		row := rows[key]
		delete(rows, key)
		if text(row["kind"]) == "session" || w.noise[key] {
			continue
		}
		if text(row["account"]) != of("account") || text(row["name"]) != of("name") || text(row["plan"]) != of("plan") ||
			number(row["spent"]) != of("spent") {
			w.Fail(Behind, "%s is %s, and its row %s is %v", keyText(img), text(img["data"]), key, row)
		}
	}
	for key, row := range rows {
		m := w.mapping.Map(row)
		// A row that was written after its event was erased is deleted by a pass.
		if m.Items == nil || w.noise[key] || w.erased[m.Items[0].Key.PK+" USER"] {
			continue
		}
		if m.Items[0].ExpiresAt-3600 > w.Now.Unix() {
			w.Fail(Undying, "no event has the row %s, and it is there: account %s", key, text(row["account"]))
		}
	}
}
