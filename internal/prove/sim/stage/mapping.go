package stage

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/internal/esm"
)

// Beside says that the function of a mapping works for one shard while it works for another.
const Beside = "shards side by side"

// Changed is an event source mapping that somebody makes or changes. It may take minutes until
// Lambda begins to poll, or does so again
// (https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html). It says in which state it is.
type Changed struct {
	state string
	until time.Time
}

// Change begins a change of a mapping.
func (w *World) Change(c *Changed, state string) {
	if !w.Calm {
		c.state, c.until = state, w.Now.Add(time.Duration(w.Rng.IntN(400))*time.Second)
	}
}

// StateOf returns what Lambda says of a mapping. Only an Enabled one calls its function.
func (w *World) StateOf(c *Changed) string {
	if w.Now.Before(c.until) {
		return c.state
	}
	return "Enabled"
}

// PollQueue runs a queue mapping.
func (w *World) PollQueue(q *esm.Queue) {
	for {
		polled, err := q.Poll(context.Background())
		if err != nil {
			w.Fail(Broken, "queue mapping: %v", err)
			return
		}
		if polled.Idle() {
			w.Sleep(time.Duration(5+w.Rng.IntN(20)) * time.Second)
		} else {
			w.Pause()
		}
	}
}

// Mapping is a stream mapping at work. Each of its shards goes on without waiting for the others,
// as in Lambda.
type Mapping struct {
	*esm.Stream
	Idle        int // how often in a row it has found nothing
	begun, done int // rounds of a shard
	working     int // invocations
}

// PollStream begins a round of every shard that has something to tell. It waits until one of them
// is done, or for a little while.
func (w *World) PollStream(m *Mapping) bool {
	rounds, streamed, err := m.Due(context.Background())
	var gone *types.ResourceNotFoundException // a shard since it was listed, after its 24 hours: all are listed again
	if err != nil && !errors.As(err, &gone) {
		w.Fail(Broken, "stream mapping: %v", err)
		return false
	}
	for _, r := range rounds {
		m.begun++
		w.Spawn("shard", nil, func() { w.pollShard(m, r) })
	}
	m.Idle++
	if !streamed.Idle() || m.begun > m.done {
		m.Idle = 0
	}
	if !streamed.Idle() {
		w.Pause() // a shard has ended, so it may have children
		return true
	}
	done := m.done
	w.Park(w.Now.Add(time.Duration(2+w.Rng.IntN(10))*time.Second), func() bool { return m.done > done })
	return true
}

// pollShard does one round of a shard.
func (w *World) pollShard(m *Mapping, r *esm.Round) {
	if r.Attempt() > 1 {
		w.Sleep(time.Duration(w.Rng.IntN(12000)) * time.Millisecond)
	}
	if m.working > 0 {
		w.Fault(Beside, "")
	}
	m.working++
	r.Do(context.Background())
	m.working--
	m.done++
}

// InvocationFaults are the faults between a mapping and its function, with their chances.
func (w *World) InvocationFaults(again, dropped, forgotten *float64) esm.Faults {
	chance := func(name string, p *float64) func(esm.Invocation) bool {
		return func(esm.Invocation) bool {
			if !w.Happens(*p) {
				return false
			}
			w.Fault(name, "")
			return true
		}
	}
	return esm.Faults{Duplicate: chance(Again, again), DropAnswer: chance(Dropped, dropped), Forget: chance(Forgotten, forgotten)}
}
