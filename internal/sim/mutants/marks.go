package main

import "github.com/ingot-events/ingot/internal/sim"

// counting are the checks that tell a wrong total: at the moment it is written, or once the world is drained.
var counting = []sim.Check{sim.Miscounted, sim.Uncounted, sim.Wrong}

// marks are other ways of remembering what is counted.
func marks() []Mutant {
	return []Mutant{
		{
			Name: "naive-add", What: "an update adds, on no condition", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"store/update.go",
				`	name, first := lane.MarkAttribute(), d.First.Bytes()
`, `	name := lane.MarkAttribute()
`}, {"store/update.go",
				`	e.guards = append(e.guards, guard{operand{name, slotNone, ":first", binary(first[:])}, "<", true})
`, ``}},
		},
		{
			Name: "mark-without-lane", What: "one mark per aggregate item, for all shards", Checks: counting,
			Patches: []Patch{{"aggregate/lane.go", `{ return MarkPrefix + l.String() }`, `{ return "mark" }`}},
		},
		{
			Name: "mark-per-key-bucket", What: "one mark per bucket of item keys, for all shards", Checks: counting,
			Patches: []Patch{
				{"aggregate/fold.go", `	ExpiresAt int64 // the aggregate item's own expiry, epoch seconds; 0: never
`, `	ExpiresAt int64 // the aggregate item's own expiry, epoch seconds; 0: never
	Mark      string
`},
				{"aggregate/route.go", `	u := b.byKey[key]
	if u == nil {
		u = &Update{Key: key, Def: to.Def, ExpiresAt: to.Def.Expiry(to.Window)}
		b.byKey[key] = u
`, `	part, mark := key, "mark"
	if b.counting == Marks {
		mark += string(rune('a' + ItemBucket(c.Key, 4)))
		part.SK += mark
	}
	u := b.byKey[part]
	if u == nil {
		u = &Update{Key: key, Def: to.Def, ExpiresAt: to.Def.Expiry(to.Window), Mark: mark}
		b.byKey[part] = u
`},
				{"store/update.go", `func (e *edit) mark(lane aggregate.LaneID, d *aggregate.Delta) {
	name, first := lane.MarkAttribute(), d.First.Bytes()`, `func (e *edit) mark(name string, d *aggregate.Delta) {
	first := d.First.Bytes()`},
				{"store/marks.go", `	e.mark(w.lane, &delta)`, `	e.mark(u.Mark, &delta)`},
				{"store/marks.go", `bytesOf(img[w.lane.MarkAttribute()])`, `bytesOf(img[w.update.Mark])`},
			},
		},
		{
			Name: "failed-condition-skips", What: "a failed condition reads as: the whole batch is counted", Checks: counting,
			Patches: []Patch{{"store/marks.go", `	counted := w.update.Drop(mark)
`, `	counted := w.update.Drop(mark)
	if counted > 0 {
		counted, w.update.Steps = counted+len(w.update.Steps), nil
	}
`}},
		},
		{
			Name: "marks-as-text", What: "sequence numbers compared as the strings they come as", Checks: counting,
			Patches: []Patch{
				{"aggregate/lane.go", `const MarkPrefix = "m:"`, `const MarkPrefix = "text:"

// Text packs the digits from the left, so that byte order is string order.
func Text(sequence event.Sequence) (b [event.SequenceBytes]byte) {
	for i, digit := range []byte(sequence.String()) {
		b[i/2] |= (digit - '0' + 1) << (4 * (1 - i%2))
	}
	return b
}`},
				{"aggregate/lane.go", `	var m Mark
	number := sequence.Bytes()`, `	var m Mark
	number := Text(sequence)`},
				{"aggregate/lane.go", `	number := sequence.Bytes()
	return string`, `	number := Text(sequence)
	return string`},
				{"store/update.go", `d.First.Bytes()`, `aggregate.Text(d.First)`},
			},
		},
		{
			Name: "guessed-lane", What: "a batch that names no shard is counted under a made-up one", Checks: []sim.Check{sim.Miscounted},
			Patches: []Patch{{"handler/streams.go", `		return errNoShard
`, `		e.shard = "shard"
`}},
		},
		{
			Name: "zero-delta-skipped", What: "an update whose fold is zero is not written", Checks: counting,
			Patches: []Patch{
				{"store/marks_many.go", `	alone := all
`, `	all = slices.DeleteFunc(all, func(w *markedUpdate) bool { return zero(w.update) })
	alone := all
`},
				{"store/marks.go", `// maxStuck is how often`, `func zero(u *aggregate.Update) bool {
	d := u.Fold()
	for _, v := range d.Values {
		if !v.Number.IsZero() {
			return false
		}
	}
	return d.N == 0 && d.FP.IsZero() && d.FPX.IsZero()
}

// maxStuck is how often`},
			},
		},
		{
			Name: "highest-unproven", What: "the answer names the highest record that is not proven, not the lowest", Checks: counting,
			Patches: []Patch{{"store/apply.go", `sequence.Compare(a.Unproven) < 0`, `sequence.Compare(a.Unproven) > 0`}},
		},
	}
}
