package moving

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// config is what a process of the new application is made from.
func (w *world) config() tables.Config { return w.Tables(w.client(), w.pipeline) }

func (w *world) store() *store.Store {
	st, err := store.New(w.config())
	w.Must(err)
	return st
}

// count is the streams function behind its mapping.
func (w *world) count(_ context.Context, payload []byte) ([]byte, error) {
	return w.Invoke(w.roles.streams, func(ctx context.Context) (any, error) {
		h := w.streamsFunction()
		if err := h.Start(ctx); err != nil {
			return nil, err
		}
		return h.Handle(ctx, json.RawMessage(payload))
	})
}

func (w *world) streamsFunction() *handler.Streams {
	h, err := handler.NewStreams(w.config())
	w.Must(err)
	return h
}

// message is an event of the new application.
func (w *world) message(account int) *event.Item {
	w.version++
	user, created := fmt.Sprint("a", account), stage.Origin.Format(time.RFC3339)
	if img := w.itemAt(fmt.Sprintf("ACCOUNT#%d USER", account)); w.latest && img != nil && w.Chance(0.7) {
		doc, err := event.ParseDocument(text(img["data"]))
		w.Must(err)
		user, created = doc.Root().Member("user").Text(), doc.Root().Member("created").Text()
	}
	item, err := w.pipeline.Plan(envelope.Message{Body: fmt.Sprintf(
		`{"specversion":"1.0","type":"user.profile","source":"app","id":"%d","data":`+
			`{"account":"%d","created":"%s","name":"n1","plan":"free","spent":%d,"user":"%s"}}`, w.version, account, created, w.version, user)})
	w.Must(err)
	return item
}

// early sends messages before their type has turned. Nothing of them may be stored.
func (w *world) early() {
	for range 2 {
		w.SleepUpTo(300)
		item := w.message(w.Rng.IntN(accounts))
		w.tooEarly[item.Data] = true
		ctx := w.Within(time.Minute)
		if result, _ := w.store().Put(iam.As(ctx, w.roles.ingest), []*event.Item{item}); result[0].Verdict.Stored() {
			w.Fail(Early, "a message of a type that has not turned is %s", result[0].Verdict)
		}
	}
}

// turn makes the new table the source, lets producers write there, and counts what was moved.
func (w *world) turn() {
	w.Calm, w.turning, w.slow = w.still, true, many
	w.redeploy()
	if w.Chance(0.5) { // a forgotten job; capture may still be at work on it when the turn is over
		for range 4 {
			w.People(func() { w.SleepUpTo(12); w.write(1) })
		}
	}
	w.People(func() {
		for h := w.streamsFunction(); h.Start(iam.As(context.Background(), w.roles.streams)) != nil; {
			w.Sleep(time.Minute)
		}
		for w.Failure == nil {
			ctx := w.Within(time.Hour)
			if w.noteCaptured() == nil {
				if missing, _, err := w.sync().Missing(ctx, migrate.Quiet); err == nil && len(missing) == 0 {
					w.disturb()
				}
				if _, err := w.sync().Turn(ctx, migrate.Quiet); err == nil {
					return
				}
			}
			w.compareAgain(ctx, migrate.Old)
			w.Sleep(time.Minute)
		}
	})
	w.run(func() bool { return w.Working == 0 })
	w.backward, w.slow = true, few
	w.off = !w.goesBack && w.Chance(0.5) // or the mapping of capture is forgotten
	if !w.goesBack {
		w.captures = nil // they no longer come to their end
	}
	if w.checkBuilding(); w.Chance(0.5) {
		w.write(5) // a forgotten job
	}
	for account := range accounts + 2 {
		if !w.Chance(0.6) {
			continue
		}
		w.People(func() { w.produce(account) })
	}
	rebuilt := false
	w.People(func() {
		if w.watched { // which sees totals that have not counted what was moved
			w.Sleep(20 * time.Minute)
		}
		for !rebuilt && w.Failure == nil {
			rebuilt = w.rebuild()
			w.Sleep(5 * time.Minute)
		}
	})
	if w.rest(); w.Failure == nil {
		w.checkTotals()
	}
}

// redeploy lets somebody deploy other settings of the mappings within the next minutes.
func (w *world) redeploy() {
	if w.Chance(0.5) {
		w.People(func() { w.SleepUpTo(900); w.Change(&w.mapped, "Updating") })
	}
}

// compareAgain is what an operator does if a forgotten job has written rows that stand against a
// turn, or if the last comparison did not find both sides equal.
func (w *world) compareAgain(ctx context.Context, state string) {
	if c, err := w.sync().Control(ctx); err == nil && w.Chance(0.3) && c.State("user.profile") == state {
		w.drop()
		w.sync().Compare(ctx, w)
	}
}

// retire ends the migration while producers go on. No tombstone is left then.
func (w *world) retire() {
	for account := range accounts {
		w.People(func() { w.produce(account) })
	}
	late := false
	written := func(_ context.Context, since time.Time) (int, error) {
		if late = w.written.After(since); late {
			return 1, nil
		}
		return 0, nil
	}
	for w.Failure == nil {
		ctx := w.Within(time.Hour)
		if _, err := w.sync().Retire(ctx, w.client(), written); err == nil {
			break
		}
		if late { // and so it must stay
			return
		}
		w.Sleep(5 * time.Minute)
	}
	if late {
		w.Fail(Lost, "the migration is over, and a forgotten job still writes the old table")
	}
	for _, img := range w.all(stack.Events) {
		if img["i:migrated"] != nil && img["type"] == nil {
			w.Fail(Revived, "the migration is over, and %s is a tombstone", keyText(img))
		}
	}
}

// checkBuilding checks that nobody takes totals without the items that were moved for complete.
func (w *world) checkBuilding() {
	def, _ := w.pipeline.Definition("users")
	head, err := w.store().Head(iam.As(context.Background(), nil), def)
	if w.Must(err); head != nil && !head.Building {
		w.Fail(stage.Generation, "after the turn, %s does not say that it is building", def)
	}
}

// produce puts an event until it is settled, and notes what was stored by then.
func (w *world) produce(account int) {
	w.SleepUpTo([]int{600, 5}[w.Rng.IntN(2)])
	item := w.message(account)
	for range 30 {
		ctx := w.Within(time.Minute)
		result, _ := w.store().Put(iam.As(ctx, w.roles.ingest), []*event.Item{item})
		switch r := &result[0]; {
		case r.Verdict == event.Retry:
			w.Sleep(10 * time.Second)
			continue
		case r.Verdict.Written() || r.Verdict == event.Duplicate && r.Refusal == nil:
			if key := item.Key.PK + " " + item.Key.SK; version(item.Data) > version(w.produced[key]) {
				w.produced[key] = item.Data
			}
		case r.Verdict == event.Stale:
		case r.Verdict == event.Rejected && w.leaving:
		case r.Verdict == event.Rejected:
			w.Fail(Early, "after the turn a message is %s: %s", r.Verdict, r.Refusal.Detail)
		case r.Verdict == event.Conflict && !w.leaving && !w.holds(item.Key):
			w.Fail(stage.Undeserved, "a message is a Conflict (%s), and its key holds no event", r.Refusal.Detail)
		}
		return
	}
	w.Fail(stage.Stuck, "a message is never settled")
}

// version returns the version of a payload, and 0 of none.
func version(data string) int {
	doc, err := event.ParseDocument(data)
	if err != nil {
		return 0
	}
	n, _ := strconv.Atoi(doc.Root().Member("spent").Text())
	return n
}

// holds reports whether the new table holds an event under a key. None of them is removed after the
// turn. Once the types have gone back, an application may delete its row.
func (w *world) holds(key event.Key) bool {
	for _, img := range w.all(stack.Events) {
		if keyText(img) == key.PK+" "+key.SK {
			return img["type"] != nil
		}
	}
	return false
}

// rebuild counts what was moved, as an operator does.
func (w *world) rebuild() bool {
	ctx := iam.As(w.Within(time.Hour), roleOf("rebuild"))
	st := w.store()
	def, _ := w.pipeline.Definition("users")
	pass, err := repair.Of(st).BeginPass(ctx, def)
	if err == nil {
		_, err = repair.Of(st).Touch(ctx)
	}
	if err != nil {
		return false
	}
	w.Sleep(10 * time.Minute)
	differences, err := verify.Finish(ctx, w.pipeline, st, pass, w.Now)
	return err == nil && len(differences) == 0
}

// checkTotals adds up the items that are stored, which is what the totals must be once rebuilt.
func (w *world) checkTotals() {
	w.Calm = true
	w.People(func() {
		report, err := verify.Totals(iam.As(context.Background(), roleOf("verify")), w.pipeline, w.store(), w.Now)
		switch {
		case err != nil:
			w.Fail(stage.Broken, "verify: %v", err)
		case !report.OK():
			w.Fail(Wrong, "%v", report.Differences)
		}
	})
	w.rest()
	users := map[string]int64{}
	for _, img := range w.all(stack.Events) {
		if img["type"] == nil {
			continue
		}
		key := keyText(img)
		doc, err := event.ParseDocument(text(img["data"]))
		w.Must(err)
		users[doc.Root().Member("plan").Text()]++
		if want := w.produced[key]; want != text(img["data"]) && version(want) >= version(text(img["data"])) {
			w.Fail(Lost, "%s holds %s, and the producer was told that %s is stored", key, text(img["data"]), want)
		}
		if w.tooEarly[text(img["data"])] {
			w.Fail(Early, "%s holds a message that came before its turn", key)
		}
		delete(w.produced, key)
		if number(img["epoch"]) != "1" {
			w.Fail(Wrong, "%s carries epoch %s after the rebuild", key, number(img["epoch"]))
		}
	}
	for key, data := range w.produced {
		if !w.erased[key] {
			w.Fail(Lost, "%s holds nothing, and the producer was told that %s is stored", key, data)
		}
	}
	for _, img := range w.all(stack.Aggregates) {
		if by, ok := strings.CutPrefix(text(img["PK"]), "A#users#1#0#"); ok {
			counted, _ := strconv.ParseInt(number(img["users"]), 10, 64)
			_, plan, _ := strings.Cut(by, "#")
			users[plan] -= counted
			if list := text(img["i:rank"]); list != "users#1#-#0#"+plan {
				w.Fail(Wrong, "%s is in the list %s", text(img["PK"]), list)
			}
		}
	}
	for plan, left := range users {
		if left != 0 {
			w.Fail(Wrong, "%d users of plan %s are not in the total", left, plan)
		}
	}
}
