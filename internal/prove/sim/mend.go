package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// live is a contribution that a slot counts, and how often.
type live struct {
	part
	n int
}

// keep notes which contributions a step has added and taken back.
func (s *step) keep() {
	if s.slot.live == nil {
		s.slot.live = map[int64]live{}
	}
	for _, p := range s.plus {
		s.slot.live[p.term] = live{p, s.slot.live[p.term].n + 1}
	}
	for _, p := range s.minus {
		if n := s.slot.live[p.term].n - 1; n == 0 {
			delete(s.slot.live, p.term)
		} else {
			s.slot.live[p.term] = live{p, n}
		}
	}
}

// isMending reports whether a transaction mends a total: it puts nothing.
func isMending(in *dynamodb.TransactWriteItemsInput) bool {
	for _, item := range in.TransactItems {
		if item.Put != nil || item.Update != nil && !strings.HasPrefix(text(item.Update.Key["PK"]), "A#") {
			return false
		}
	}
	return true
}

// whole returns the slots of a total in the order of their buckets.
func (m *model) whole(s *slot) (list []*slot) {
	total := totalText(s.key)
	for _, key := range sortedKeys(m.slots) {
		if totalText(key) == total && strings.HasPrefix(key, strings.Join(strings.SplitN(s.key, "#", 4)[:3], "#")+"#") {
			list = append(list, m.slots[key])
		}
	}
	return list
}

// mend makes a slot what it must be once somebody has mended its total: what only moves outwards is
// computed anew from all that the total counts.
func (m *model) mend(s *slot) {
	all := newSlot("", 0)
	slots, counted := m.whole(s), map[int64]live{}
	for _, of := range slots { // what one item has added, another may have taken back
		for term, l := range of.live {
			counted[term] = live{l.part, counted[term].n + l.n}
		}
	}
	for _, l := range counted {
		if l.n > 0 {
			(&step{slot: all, fp: new1(), fpx: new1(), max: l.max, min: l.min, dated: l.dated, met: l.met}).apply()
		}
	}
	first := slices.IndexFunc(slots, func(of *slot) bool { return of.applied > 0 })
	s.max = renewed(s.max, all.max, slots[max(first, 0)] == s)
	s.min = renewed(s.min, all.min, slots[max(first, 0)] == s)
	s.texts = renewed(s.texts, all.texts, slots[max(first, 0)] == s)
	s.sketches = renewed(s.sketches, all.sketches, slots[max(first, 0)] == s)
	s.flagged = s.floored() && s.values["cents"] < 0
}

// renewed returns the values of a slot that was mended: those that it had, or all if it is the one
// that gets what is missing.
func renewed[V any](had, all map[string]V, gets bool) map[string]V {
	out := map[string]V{}
	for name, v := range all {
		if _, has := had[name]; has || gets {
			out[name] = v
		}
	}
	return out
}

// mendTotals lets somebody mend totals while producers send and people remove events. Each total
// that is mended must be what its events add up to, whatever is counted before and after that. At
// rest, everything can be mended whose events have not expired.
func mendTotals(_ context.Context, w *World) bool {
	f, draw := &w.plan.Faults, rand.New(rand.NewPCG(w.plan.Seed, 19))
	if f.Odd+f.Damage+f.Stamp > 0 || draw.IntN(2) == 0 {
		return true
	}
	w.looks.looking = &looking{}
	defer func() { w.looks.looking = nil }()
	altered := w.looks.alter(draw)
	sending, mended := true, false
	w.Spawn("producer", nil, func() {
		for range 4 {
			w.phase++
			w.produce(w.phase)
			for range 4 {
				w.Sleep(time.Duration(draw.IntN(200)) * time.Second)
				removeLatest(w, draw)
			}
		}
		sending = false
	})
	w.Spawn("mender", nil, func() {
		for sending {
			w.Sleep(time.Duration(draw.IntN(300)) * time.Second)
			mendOnce(&shortPages{Client: client{w}, limit: int32(5 + draw.IntN(40))}, w, 1+draw.IntN(3))
		}
		mended = true
	})
	w.run(lookSteps, func() bool { return mended && !sending })
	if w.Failure != nil || !w.settle(func() bool { return mended }) {
		return false
	}
	w.Calm, mended = true, false
	w.Spawn("mender", nil, func() { mendOnce(client{w}, w, 1); mended = true })
	w.run(calmSteps, func() bool { return mended })
	checkMended(w, altered)
	return w.Failure == nil && w.settle(nil) && w.rest.checkDrained()
}

// removeLatest lets a person remove one of the latest events, whose totals nothing has left yet.
func removeLatest(w *World, draw *rand.Rand) {
	var latest []*image
	for _, key := range sortedKeys(w.model.keys) {
		if img := w.model.keys[key].live; img != nil && (w.plan.People || w.plan.Parts == 0) && w.Now.Sub(img.at()) < 48*time.Hour {
			latest = append(latest, img)
		}
	}
	if len(latest) > 0 {
		w.people.remove(latest[draw.IntN(len(latest))])
	}
}

func mendOnce(c tables.Client, w *World, segments int) {
	epoch := int64(1)
	if w.plan.Upgrade > 0 {
		epoch = 2
	}
	how := verify.Config{Pipeline: w.pipelineOf(epoch), Config: sums.Config{Segments: segments, Env: w.Env(w.Rng.Float64, 0)}}
	m, err := verify.Mend(context.Background(), how, w.operators.storeOf(c, epoch, w.Env(w.Rng.Float64, 0)), nil, streamLag{w}, patience)
	if err != nil {
		w.Tracef("mend: %v", err)
		return
	}
	for _, t := range m.Totals {
		w.Tracef("mend %s by %v at %s: %s", t.Def, t.By, t.Window, t.Why)
		if t.Why == "" {
			w.stats.Mended++
		}
	}
}

// checkMended checks, at rest, that no total that can be mended has a flag or is altered. A later
// generation may still be building.
func checkMended(w *World, altered *slot) {
	for _, key := range sortedKeys(w.model.slots) {
		s := w.model.slots[key]
		expired := slices.ContainsFunc(w.model.whole(s), func(of *slot) bool { return of.fpx.Sign() != 0 }) ||
			w.model.unclosed(key, w.Now.Add(early))
		if s == altered && (expired || !w.model.marks) { // nobody can mend it
			w.looks.addToFingerprint(s, -1)
			continue
		}
		pk, sk, _ := strings.Cut(key, "|")
		item := w.read(totals, pk, sk)
		switch {
		case !firstGeneration(key) || expired || item == nil || s.expiresAt <= w.Now.Unix() || s.floored() && s.values["cents"] < 0:
		case item["flag"] != nil:
			w.Fail(Unkept, "%s could be mended at rest, and is flagged: %s", key, text(item["flag"]))
		case number(item["fp"]).Cmp(s.fp) != 0:
			w.Fail(Wrong, "%s was altered, and could be mended at rest: its fingerprint is %s and not %s", key, number(item["fp"]), s.fp)
		}
	}
}
