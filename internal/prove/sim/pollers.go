package sim

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/esm"
)

// pollers call the functions, as event source mappings do.
type pollers struct {
	*World
	checkpoints []checkpoint
}

// checkpoint is where the stream mapping stood at some time.
type checkpoint struct {
	at    time.Time
	state esm.Checkpoint
}

// pollStream runs the stream mapping of the world. Now and then its poller fails over to a stale
// checkpoint.
func (w *pollers) pollStream() {
	for {
		if l := w.looks.looking; l != nil && l.halted {
			w.Park(time.Time{}, func() bool { return !l.halted })
		}
		if w.Now.Before(w.strays.halted) {
			w.Park(w.strays.halted, nil)
		}
		w.meddle()
		if !w.PollStream(w.stream) {
			return
		}
	}
}

// stale is how old a checkpoint may be to which a poller fails over, and how long a finished shard
// may be listed again.
const stale = 12 * time.Hour
const relisted = 48 * time.Hour

// mostRestarts is how often the stream is read again from an old place while somebody verifies. If
// the shards are many, each time gives rise to more than one other: it would never be read to its
// end, and the verifier would wait for it in vain.
const mostRestarts = 20

// goesOn reports whether the stream may be read again from an old place, and counts that.
func (w *pollers) goesOn() bool {
	if l := w.looks.looking; l != nil {
		l.restarts++
		return l.restarts <= mostRestarts
	}
	return true
}

func (w *pollers) meddle() {
	if w.Chance(0.3) {
		w.checkpoints = append(w.checkpoints, checkpoint{w.Now, w.stream.Checkpoint()})
	}
	if w.Calm {
		return
	}
	f := &w.plan.Faults
	old := w.checkpoints
	for len(old) > 0 && w.Now.Sub(old[0].at) > stale {
		old = old[1:]
	}
	w.checkpoints = old
	if len(old) > 0 && w.Chance(f.Stale) && w.goesOn() {
		w.Fault(staleMark, "")
		w.stream.Restore(old[w.Rng.IntN(len(old))].state)
	}
	if w.Chance(f.Second) && w.goesOn() {
		w.Fault(second, "")
		w.secondPoller(old)
	}
	if w.Chance(f.HotKey) && !w.Now.Before(w.heat.until) {
		w.heat.key, w.heat.until = "", w.Now.Add(time.Duration(60+w.Rng.IntN(240))*time.Second)
	}
	if w.Chance(f.Outage) {
		// An outage is long enough that an invocation runs out of time and must report what it
		// could not prove. Or a permission is missing, and the invocation fails with time left.
		w.trouble.outage = w.Now.Add(time.Duration(20+w.Rng.IntN(60)) * time.Second)
		of := outages[w.Rng.IntN(len(outages))]
		w.trouble.outOf, w.trouble.outWith = of.of, of.with
	}
	if w.Chance(f.Roll) {
		w.Fault(rolled, "")
		w.Must(w.ingot.Engine.RollShards(eventsTable))
		w.observe()
	}
	if w.Chance(f.Split) {
		w.split()
	}
	if w.Chance(f.Sweep) {
		w.sweep()
	}
	if w.Chance(f.Odd) {
		w.trouble.writeOdds()
	}
	w.offload.losePayload()
	if w.Chance(f.Damage) {
		w.damage.damage()
	}
	if w.Chance(f.Stamp) {
		w.stuck.stampByHand()
	}
	for len(w.batches) > 0 && w.Now.Sub(w.batches[0].at) > relisted {
		w.batches = w.batches[1:]
	}
	if len(w.batches) > 0 && w.Chance(f.Replay) {
		batch := w.batches[w.Rng.IntN(len(w.batches))]
		w.Fault(replayed, fmt.Sprintf("batch %d of %d", batch.n, w.counted))
		w.Spawn("replay", nil, func() { w.count(batch.payload) })
	}
}

// split divides a random open shard.
func (w *pollers) split() {
	out, err := w.ingot.Engine.Streams().DescribeStream(context.Background(),
		&dynamodbstreams.DescribeStreamInput{StreamArn: &w.ingot.StreamARN})
	if err != nil {
		w.Fail(Broken, "describe stream: %v", err)
		return
	}
	var open []string
	for _, listed := range out.StreamDescription.Shards {
		if listed.SequenceNumberRange.EndingSequenceNumber == nil {
			open = append(open, *listed.ShardId)
		}
	}
	if len(open) == 0 || len(open) > 6 {
		return
	}
	if w.ingot.Engine.SplitShard(eventsTable, open[w.Rng.IntN(len(open))]) != nil {
		return // too narrow to split
	}
	w.Fault(splitUp, "")
	w.observe()
}

// sweep lets time to live do its work. Some of it may be done in another Region of a global table.
// The records of such removals do not say who made them.
func (w *pollers) sweep() {
	if w.Chance(0.3) {
		w.sweepElsewhere()
	}
	if n := w.ingot.Engine.SweepExpired(); n > 0 {
		w.Fault(swept, fmt.Sprintf("%d items", n))
		w.observe()
	}
}

func (w *pollers) sweepElsewhere() {
	n := 0
	for _, key := range sortedKeys(w.model.Keys) {
		if img := w.model.Keys[key].Live; img != nil && img.ExpiresAt <= w.Now.Unix() && w.Chance(0.7) {
			w.people.delete(img)
			n++
		}
	}
	if n > 0 {
		w.Fault(elsewhere, fmt.Sprintf("%d items", n))
		w.observe()
	}
}

// secondPoller reads the stream beside the first poller for a while, from an old checkpoint or from
// the start.
func (w *pollers) secondPoller(old []checkpoint) {
	marks := w.plan.Counting == aggregate.Marks
	named := marks && !w.Chance(0.2)
	if marks && !named {
		w.Fault(unnamed, "")
	}
	s, err := w.newStream(named)
	if err != nil {
		w.Fail(Broken, "second mapping: %v", err)
		return
	}
	if len(old) > 0 && named == marks && w.Chance(0.7) {
		s.Restore(old[w.Rng.IntN(len(old))].state)
	}
	rounds := 1 + w.Rng.IntN(15)
	w.Spawn("second", nil, func() {
		for range rounds {
			if !w.PollStream(s) {
				return
			}
		}
	})
}

// deliverAgain lets a person pass a batch that a mapping gave up to the function, until the
// function takes it.
func (w *pollers) deliverAgain(payload []byte) {
	wait := time.Duration(1+w.Rng.IntN(120)) * time.Minute
	w.Spawn("destination", nil, func() {
		w.Sleep(wait)
		for {
			if answer, err := w.count(payload); err == nil && !strings.Contains(string(answer), "itemIdentifier") {
				return
			}
			w.Sleep(time.Minute)
		}
	})
}
