package sim

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/verify/sums"
)

// isMending reports whether a transaction mends a total: it puts nothing.
func isMending(in *dynamodb.TransactWriteItemsInput) bool {
	for _, item := range in.TransactItems {
		if item.Put != nil || item.Update != nil && !strings.HasPrefix(text(item.Update.Key["PK"]), "A#") {
			return false
		}
	}
	return true
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
			mendOnce(&stage.ShortPages{Client: w.client(), Limit: int32(5 + draw.IntN(40))}, w, 1+draw.IntN(3))
			if altered == nil {
				watchOnce(w)
			}
		}
		mended = true
	})
	w.run(lookSteps, func() bool { return mended && !sending })
	if w.Failure != nil || !w.settle(func() bool { return mended }) {
		return false
	}
	w.Calm, mended = true, false
	w.Spawn("mender", nil, func() { mendOnce(w.client(), w, 1); mended = true })
	w.run(calmSteps, func() bool { return mended })
	checkMended(w, altered)
	return w.Failure == nil && w.settle(nil) && w.rest.checkDrained()
}

// removeLatest lets a person remove one of the latest events, whose totals nothing has left yet.
func removeLatest(w *World, draw *rand.Rand) {
	var latest []*model.Image
	for _, key := range sortedKeys(w.model.Keys) {
		if img := w.model.Keys[key].Live; img != nil && (w.plan.People || w.plan.Parts == 0) && w.Now.Sub(img.Time()) < 48*time.Hour {
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

// watchOnce looks at the totals as the schedule of cmd/worker does. Nothing is damaged.
func watchOnce(w *World) {
	epoch := int64(1)
	if w.plan.Upgrade > 0 {
		epoch = 2
	}
	env := w.Env(w.Rng.Float64, 0)
	looks, err := stage.Scheduled(context.Background(), w.pipelineOf(epoch), w.operators.storeOf(w.client(), epoch, env), env,
		func(ctx context.Context) error { _, err := streamLag{w}.Counted(ctx); return err })
	if err != nil {
		w.Tracef("a run of the schedule proves nothing: %v", err)
		return
	}
	w.Tracef("a run of the schedule: %d undecided", len(looks.Undecided))
	for _, d := range looks.Damaged {
		w.Fail(Misjudged, "a run of the schedule calls an undamaged total damaged: %s", d)
	}
}

// checkMended checks, at rest, that no total that can be mended has a flag or is altered. A later
// generation may still be building.
func checkMended(w *World, altered *model.Slot) {
	for _, key := range sortedKeys(w.model.Slots) {
		s := w.model.Slots[key]
		expired := slices.ContainsFunc(w.model.Whole(s), func(of *model.Slot) bool { return of.FPX.Sign() != 0 }) ||
			w.model.Unclosed(key, w.Now.Add(time.Hour)) // from then on verify does not compare it
		if s == altered && (expired || !w.model.Marks) { // nobody can mend it
			w.looks.addToFingerprint(s, -1)
			continue
		}
		pk, sk, _ := strings.Cut(key, "|")
		item := w.read(totals, pk, sk)
		switch {
		case !firstGeneration(key) || expired || item == nil || s.ExpiresAt <= w.Now.Unix() || s.Bounded() && s.Left() < 0:
		case item["flag"] != nil:
			w.Fail(Unkept, "%s could be mended at rest, and is flagged: %s", key, text(item["flag"]))
		case number(item["fp"]).Cmp(s.FP) != 0:
			w.Fail(Wrong, "%s was altered, and could be mended at rest: its fingerprint is %s and not %s", key, number(item["fp"]), s.FP)
		}
	}
}
