package count

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// markedUpdate writes one aggregate item under its lane's mark. It tries again and again until the
// write is proven. These are its states, and every way from one to another:
//
//	┌────────────► counting ── 1 applied ─────────────────────────────► proven
//	├─ 0 again ───────┤ ├───── 2 failed, and the mark covers all steps ► proven
//	└─ 3 failed, and ─┤ │
//	     it learned   │ └───── 5 the batch ends first ─────────────────► unproven
//	                  │
//	   4 invalid, or failed three times without an explanation
//	                  ▼
//	              refused ──── 6 quarantine did not take the values ───► unproven
//	                  │
//	   7 quarantine has the values
//	                  ▼
//	┌────────────► flagging ── 1 applied ─────────────────────────────► proven
//	├─ 0 again ───────┤ ├───── 2 failed, and the mark covers all steps ► proven
//	└─ 3 failed, and ─┤ │
//	     it learned   │ └───── 5 the batch ends first ─────────────────► unproven
//	                  │
//	   4 invalid, or failed three times without an explanation
//	                  ▼
//	          flagging the head ── 8 the head has the flag ────────────► proven
//	                     └──────── 9 it was not written ───────────────► unproven
//
// The condition is that the mark is below the first record. 0 is throttled, contended or no answer:
// an earlier try may have been carried out, and its answer lost. The item's mark shows that. In 3,
// the steps that the mark covers are dropped, and not counted twice. Counting writes the values, n,
// fingerprint and mark together, flagging only flag and mark. Every state is in fields: refusal is
// set from refused on, and failed means unproven.
//
// Many totals of a batch go as statements, 25 in a request ([together]). An update that is invalid
// there, or that fails without an explanation, goes on here.
type markedUpdate struct {
	*apply
	lane    lanes.LaneID
	update  *lanes.Update
	rest    []lanes.Step // what did not fit into the update, and is written after it
	failed  bool         // the batch knows why the update is not proven, so nothing after it may be written
	seen    *rows.Observation
	prune   bool  // old marks may go with it; not after a failed condition, because one of them may have caused it
	stuck   int   // how often in a row its condition failed without an explanation
	refusal error // why the table will never take the values; if set, only flag and mark are written
}

// maxStuck is how often a condition may fail while the item shows nothing that explains it. After
// that, the condition can never hold: an attribute has a type that Ingot does not write, and no
// comparison with it is true.
const maxStuck = 3

var errStuck = errors.New("its condition can never hold: an attribute of the aggregate item has a type that Ingot does not write")

func (a *apply) marked(lane lanes.LaneID, u *lanes.Update) *markedUpdate {
	w := &markedUpdate{apply: a, lane: lane, update: u, seen: a.store.seen.Get(u.Key), prune: true}
	if lanes.HasHistogram(u.Def) {
		part := *u
		w.rest, w.update = part.Cut(), &part
	}
	return w
}

// runAll writes the update. If it was cut, it then writes the rest, one part after the other: the
// mark of a part covers everything before it.
func (w *markedUpdate) runAll(ctx context.Context) {
	for w.run(ctx); len(w.rest) > 0 && !w.failed; w.run(ctx) {
		part := &lanes.Update{Key: w.update.Key, Def: w.update.Def, ExpiresAt: w.update.ExpiresAt, Steps: w.rest}
		w.rest, w.update = part.Cut(), part
		w.seen, w.prune, w.stuck, w.refusal = w.store.seen.Get(part.Key), false, 0, nil
	}
}

func (w *markedUpdate) run(ctx context.Context) {
	err := w.store.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		answer, next := w.try(ctx)
		if next == rows.Later {
			w.retried(answer, w.update)
		}
		return answer, next
	})
	if err != nil {
		w.giveUp(err)
	}
}

// try sends the update once, as an UpdateItem. The update has ended when it is proven, or when the
// batch knows why it is not proven.
func (w *markedUpdate) try(ctx context.Context) (rows.Answer, rows.Next) {
	e := w.edit()
	answer, img := w.send(ctx, e)
	switch answer.Outcome {
	case rows.Done:
		w.written(e, img)
		return answer, rows.Ended
	case rows.Failed:
		img, read := w.imageOf(ctx, w.update.Key, img)
		if read.Outcome != rows.Done {
			return read, rows.Later
		}
		return read, w.afterFailed(ctx, img)
	case rows.Invalid:
		return answer, w.afterInvalid(ctx, answer.Err)
	}
	return answer, rows.Later
}

// afterFailed goes on from the item that made the condition fail. If the item explains nothing,
// several times in a row, the condition can never hold.
func (w *markedUpdate) afterFailed(ctx context.Context, img rows.Image) rows.Next {
	switch {
	case w.learn(img):
		return rows.Ended
	case w.stuck < maxStuck:
		return rows.Again
	}
	w.stuck = 0
	return w.afterInvalid(ctx, errStuck)
}

// learn looks at the item that made the condition fail. It drops what the item's mark covers, and
// corrects the guesses for the next request. It reports whether nothing is left to write.
func (w *markedUpdate) learn(img rows.Image) bool {
	counted, before := w.look(img)
	if w.stuck++; counted > 0 || w.prune || !w.seen.SameForm(before) {
		w.stuck = 0
	}
	w.prune = false
	return len(w.update.Steps) == 0
}

// look takes an image of the item and drops what its mark covers. It returns how many steps it
// dropped, and what was seen before. The image may be stale, but its mark was once in the item, so
// the steps that the mark covers were counted.
func (w *markedUpdate) look(img rows.Image) (counted int, before *rows.Observation) {
	before, created := w.seen, w.update.Steps[0].Created
	counted = w.dropCounted(img)
	w.seen = rows.Observe(w.update.Def, img, w.lane.MarkAttribute())
	w.seen.At = created
	w.store.seen.Put(w.update.Key, w.seen)
	return counted, before
}

// dropCounted drops the steps that the lane's mark covers, and returns how many it dropped.
func (w *markedUpdate) dropCounted(img rows.Image) int {
	mark, err := lanes.ParseMark(rows.BytesOf(img[w.lane.MarkAttribute()]))
	if err != nil {
		return 0
	}
	counted := w.update.Drop(mark)
	w.dropped(counted)
	return counted
}

// afterInvalid sends values that the table will never take to quarantine, and goes on with flag and
// mark. If the table does not take those either, the head carries the flag.
//
// In that last case the mark stays where it was. The next batch is refused again and quarantined
// with its own steps. An earlier try without an answer may still be carried out if somebody makes
// room in the item. Neither of them counts a step twice: a try that is carried out moves the mark,
// and its steps are dropped if they are delivered again. So a step may be counted and also be in
// quarantine, and the flag stays. Only a new generation, which has other keys, repairs such a
// total. Never replay the messages in quarantine to repair it.
func (w *markedUpdate) afterInvalid(ctx context.Context, cause error) rows.Next {
	if w.refusal != nil {
		if err := w.flagHead(ctx, w.update, w.refusal); err != nil {
			w.giveUp(err)
		}
		return rows.Ended
	}
	w.refusal = cause
	if !w.quarantined(ctx, w.update, cause) {
		w.failed = true
		return rows.Ended
	}
	return rows.Again
}

func (w *markedUpdate) giveUp(err error) {
	w.failed = true
	w.unproven(w.update.Steps[0].Sequence, err)
}

// edit returns the one write of an aggregate item under marks: values, n, fingerprint and mark
// together. If the table has refused the values for good, it returns only flag and mark.
func (w *markedUpdate) edit() *rows.Edit {
	u, delta, e := w.update, w.update.Fold(), &rows.Edit{}
	if w.refusal == nil {
		e.Fold(u, &delta, w.seen)
	} else {
		e.Refused(delta.Last.Created(), w.refusal)
	}
	e.Expiry(u.ExpiresAt)
	e.Mark(w.lane, &delta)
	if w.prune {
		e.Prune(w.seen, w.lane.MarkAttribute(), u.Steps[0].Created)
	}
	return e
}

// send makes one update and returns an image of the item. If the update succeeded, this is the item
// after it, if the request asked for it. If the condition failed, it is the item that made it fail.
func (w *markedUpdate) send(ctx context.Context, e *rows.Edit) (rows.Answer, rows.Image) {
	in := rows.Request(e.Update(&w.store.Aggregates, w.update.Key))
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	if in.ReturnValues = types.ReturnValueAllNew; w.seen.Fresh(w.lane, w.update.Steps[0].Created) && len(e.Removes) == 0 {
		in.ReturnValues = types.ReturnValueNone
	}
	out, err := w.store.Client.UpdateItem(ctx, in)
	answer := rows.Classify(err)
	img := rows.RefusedBy(err)
	if err == nil {
		img = out.Attributes
	}
	w.store.Pace.Learn(answer)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Cost.Requests++
	if answer.Outcome == rows.Failed || len(img) > 0 {
		w.Cost.WriteUnits += float64(itemform.WriteUnits(rows.ImageSize(img)))
	}
	return answer, img
}

// written remembers what the item looks like now. If there is no image, it computes the size from
// the last one seen. An item grows by one mark in hours, and by what the edit adds.
func (w *markedUpdate) written(e *rows.Edit, img rows.Image) {
	units := e.RankUnits(w.update, w.seen)
	if len(img) > 0 {
		w.seen = rows.Observe(w.update.Def, img, w.lane.MarkAttribute())
		w.seen.At = w.update.Steps[0].Created
	} else {
		delta, before := w.update.Fold(), w.seen.Size
		w.seen = w.seen.After(w.update, e, w.lane, &delta)
		if lanes.HasExtremes(w.update.Def) && w.refusal == nil {
			w.seen = w.seen.Merged(w.update.Def, &delta)
		}
		units += itemform.WriteUnits(max(before, w.seen.Size))
	}
	w.store.seen.Put(w.update.Key, w.seen)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.Updates++
	w.noteLarge()
	w.Cost.WriteUnits += float64(units)
	if w.refusal != nil {
		w.Refused++
	}
}
