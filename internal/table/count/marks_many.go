package count

import (
	"context"
	"errors"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

const (
	// fewTotals is how many totals a batch writes one by one. A batch with one more total fills a
	// request of statements.
	fewTotals = rows.MaxStatements - 1
	// mostLarge is how many requests run at the same time if their answers may bring items of up to
	// 400 KB.
	mostLarge = 4
	// smallTotal is the size up to which an item's image does not count as large, in bytes.
	smallTotal = 16 << 10
)

// marks counts a batch under its lane's marks. It writes a few totals with an UpdateItem each, and
// many totals as statements. An update goes as an UpdateItem in the end if a statement cannot
// express it, or if its statement was refused as invalid. So one total does not hold back the
// others in its request, and only the answer to an UpdateItem is final.
func (a *apply) marks(ctx context.Context, b *lanes.Batch) {
	all := make([]*markedUpdate, len(b.Updates()))
	for i, u := range b.Updates() {
		all[i] = a.marked(b.Lane(), u)
	}
	alone := all
	if len(all) > a.store.few {
		var cut []*markedUpdate // two parts of one total must not be in the same request
		whole := slices.DeleteFunc(slices.Clone(all), func(w *markedUpdate) bool {
			if len(w.rest) > 0 {
				cut = append(cut, w)
			}
			return len(w.rest) > 0
		})
		alone = append(a.many(ctx, whole), cut...)
	}
	most := rows.MostPace
	if slices.ContainsFunc(alone, func(w *markedUpdate) bool { return w.seen.Size == 0 || w.seen.Size > smallTotal }) {
		most = mostLarge
	}
	a.store.Each(len(alone), most, func(i int) { alone[i].runAll(ctx) })
}

// many writes updates as statements, 25 in a request. It returns the updates that must go alone.
func (a *apply) many(ctx context.Context, all []*markedUpdate) (alone []*markedUpdate) {
	var unsure []*markedUpdate
	for _, w := range all {
		if !w.seen.Fresh(w.lane, w.update.Steps[0].Created) {
			unsure = append(unsure, w)
		}
	}
	looks := slices.Collect(slices.Chunk(unsure, a.store.keysOfALook()))
	a.store.Each(len(looks), mostLarge, func(i int) {
		if ctx.Err() == nil {
			a.lookAt(ctx, looks[i])
		}
	})
	all = slices.DeleteFunc(all, func(w *markedUpdate) bool { return len(w.update.Steps) == 0 })
	requests := slices.Collect(slices.Chunk(all, rows.MaxStatements))
	left := make([][]*markedUpdate, len(requests))
	a.store.Each(len(requests), rows.MostPace, func(i int) {
		t := &together{apply: a, waiting: requests[i]}
		t.run(ctx)
		left[i] = t.alone
	})
	return slices.Concat(left...)
}

// lookAt reads the items of updates before they are written, to learn which exist and what they
// hold. The read may be stale, or leave some items out. That does no harm, because the conditions
// of the updates decide.
func (a *apply) lookAt(ctx context.Context, updates []*markedUpdate) {
	a.images(ctx, updates, false, func(w *markedUpdate, img rows.Image) {
		w.look(img)
	})
}

// images reads the items of updates and hands each to take. An item that does not exist has an
// empty image. An item that was left unread is not handed over, and the answer says why. If an
// answer is too large, images asks again for each half. A single item that is too large stays
// unread. No image is kept after the answer that brought it, because a hundred of them can take
// more memory than the smallest function has.
func (a *apply) images(ctx context.Context, of []*markedUpdate, consistent bool, take func(*markedUpdate, rows.Image)) rows.Answer {
	request := types.KeysAndAttributes{ConsistentRead: &consistent, Keys: make([]rows.Image, len(of))}
	for i, w := range of {
		request.Keys[i] = rows.KeyImage(w.update.Key)
	}
	out, err := a.store.Client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
		RequestItems: map[string]types.KeysAndAttributes{a.store.Aggregates: request}}, rows.Bounded)
	answer := rows.Classify(err)
	a.store.Pace.Learn(answer)
	a.mu.Lock()
	a.Cost.Requests++
	a.mu.Unlock()
	switch {
	case errors.Is(err, rows.ErrTooLarge) && len(of) > 1:
		a.store.lookKeys.Store(int32(len(of) / 2))
		for _, half := range [][]*markedUpdate{of[:len(of)/2], of[len(of)/2:]} {
			if why := a.images(ctx, half, consistent, take); why.Outcome != rows.Done {
				answer = why
			}
		}
		return answer
	case err != nil:
		return answer
	}
	images := make(map[event.Key]rows.Image, len(of))
	for _, w := range of {
		images[w.update.Key] = rows.Image{}
	}
	for _, unread := range out.UnprocessedKeys {
		answer = rows.ErrUnread
		for _, key := range unread.Keys {
			delete(images, rows.KeyOf(key))
		}
	}
	for _, img := range out.Responses[a.store.Aggregates] {
		images[rows.KeyOf(img)] = img
	}
	bytes := 0
	a.mu.Lock()
	for _, img := range images {
		size := rows.ImageSize(img)
		bytes += size
		a.Cost.Look(size, consistent)
	}
	a.mu.Unlock()
	if len(of) >= a.store.keysOfALook() && bytes < rows.MaxAnswer/8 {
		a.store.lookKeys.Store(int32(min(2*len(of), rows.MaxKeys)))
	}
	for _, w := range of {
		if img, read := images[w.update.Key]; read {
			take(w, img)
		}
	}
	return answer
}

// keysOfALook returns how many items are read at once: as many as recent answers had room for.
func (s *Counter) keysOfALook() int { return int(s.lookKeys.Load()) }

// together is a group of up to 25 updates. They share requests of statements until each of them has
// ended or must go alone.
type together struct {
	*apply
	waiting []*markedUpdate
	alone   []*markedUpdate
	blind   bool // the request does not ask for the stored items, because together they are too large
}

func (t *together) run(ctx context.Context) {
	if err := t.store.Retry(ctx, t.try); err != nil {
		for _, w := range t.waiting {
			w.giveUp(err)
		}
	}
}

// try sends the waiting updates in one request. Each of them gets its own answer. Refused updates
// are sent again, without the others. If the request as a whole got no answer, each update asks
// again under its own condition.
func (t *together) try(ctx context.Context) (rows.Answer, rows.Next) {
	statements, edits := t.statements()
	if len(statements) == 0 {
		return rows.Answer{}, rows.Ended
	}
	responses, err := t.store.Execute(ctx, statements, rows.Bounded)
	whole := rows.Classify(err)
	t.mu.Lock()
	t.Cost.Requests++
	t.mu.Unlock()
	switch whole.Outcome {
	case rows.Done:
		return t.judge(ctx, edits, responses)
	case rows.Invalid: // the refusal names no statement
		t.alone, t.waiting = append(t.alone, t.waiting...), nil
		return whole, rows.Ended
	}
	t.store.Pace.Learn(whole)
	t.blind = t.blind || errors.Is(err, rows.ErrTooLarge)
	for range t.waiting {
		t.retried(whole, nil)
	}
	return whole, rows.Later
}

// statements writes the waiting updates as PartiQL. An update that does not fit a statement must go
// alone.
func (t *together) statements() (all []types.BatchStatementRequest, edits []*rows.Edit) {
	waiting := t.waiting
	t.waiting = nil
	for _, w := range waiting {
		e := w.edit()
		s, fits := e.Statement(t.store.Aggregates, w.update.Key, w.seen)
		if !fits {
			t.alone = append(t.alone, w)
			continue
		}
		if t.blind {
			s.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureNone
		}
		t.waiting, all, edits = append(t.waiting, w), append(all, s), append(edits, e)
	}
	return all, edits
}

// judge gives each update the answer to its own statement. A refusal stands inside a successful
// answer, and the SDK does not retry it.
func (t *together) judge(ctx context.Context, edits []*rows.Edit, responses []types.BatchStatementResponse) (why rows.Answer,
	then rows.Next) {
	sent := t.waiting
	t.waiting = nil
	keep := func(w *markedUpdate, a rows.Answer, n rows.Next) {
		if t.waiting = append(t.waiting, w); then != rows.Later {
			why, then = a, n
		}
	}
	var slowest rows.Answer
	var unknown []int // updates whose condition failed, and whose item did not come with the answer
	for i, w := range sent {
		refusal := responses[i].Error
		a := rows.ClassifyStatement(refusal)
		switch a.Outcome {
		case rows.Done:
			w.written(edits[i], nil)
		case rows.Failed:
			if len(refusal.Item) == 0 {
				unknown = append(unknown, i)
				continue
			}
			t.met(w, edits[i], refusal.Item, keep)
		case rows.Invalid:
			t.alone = append(t.alone, w)
		case rows.Refused:
			w.giveUp(a.Err)
		default:
			if a.Outcome == rows.Throttled {
				slowest = a
			}
			t.retried(a, w.update)
			keep(w, a, rows.Later)
		}
	}
	t.store.Pace.Learn(slowest)
	if len(unknown) == 0 {
		return why, then
	}
	inTheWay, places := make([]*markedUpdate, len(unknown)), make(map[*markedUpdate]int, len(unknown))
	for n, i := range unknown {
		inTheWay[n], places[sent[i]] = sent[i], i
	}
	read := t.images(ctx, inTheWay, true, func(w *markedUpdate, img rows.Image) {
		t.met(w, edits[places[w]], img, keep)
		delete(places, w)
	})
	for _, w := range inTheWay {
		switch _, unread := places[w]; {
		case !unread:
		case errors.Is(read.Err, rows.ErrTooLarge):
			t.alone = append(t.alone, w)
		default:
			t.retried(read, nil)
			keep(w, read, rows.Later)
		}
	}
	return why, then
}

// met goes on from the item that made a statement fail. If the item explains nothing, several times
// in a row, an UpdateItem has the last word.
func (t *together) met(w *markedUpdate, e *rows.Edit, img rows.Image, keep func(*markedUpdate, rows.Answer, rows.Next)) {
	size := rows.ImageSize(img)
	if w.seen.State != rows.Present { // an INSERT costs what it would have stored
		delta := w.update.Fold()
		size = max(size, w.seen.After(w.update, e, w.lane, &delta).Size)
	}
	t.mu.Lock()
	t.Cost.WriteUnits += float64(itemform.WriteUnits(size))
	t.mu.Unlock()
	switch {
	case w.learn(img):
	case w.stuck >= maxStuck:
		w.stuck = 0
		t.alone = append(t.alone, w)
	default:
		keep(w, rows.Answer{}, rows.Again)
	}
}
