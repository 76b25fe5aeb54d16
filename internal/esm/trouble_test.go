package esm

import (
	"context"
	"errors"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestFaultsOfAStream(t *testing.T) {
	once := func() func(Invocation) bool {
		done := false
		return func(Invocation) bool { was := done; done = true; return !was }
	}
	for name, tt := range map[string]struct {
		faults Faults
		calls  string
	}{
		"duplicate": {Faults{Duplicate: once()}, "1-3 1-3 4-6 7"},
		"drop":      {Faults{DropAnswer: once()}, "1-3 1-3 4-6"},
		"forget":    {Faults{Forget: once()}, "1-3 1-3 4-6"},
	} {
		rig := newStreamRig(t, func(c *StreamConfig) { c.Function.Faults = tt.faults })
		rig.holds(1, 7)
		p := rig.poll(3)
		must.Equal(t, rig.took(), tt.calls, name)
		must.Equal(t, p.Failed == 1, name == "drop", name)
	}
}

func TestBisect(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.BatchSize, c.Bisect, c.MaxRetries = 8, true, 2 })
	rig.holds(1, 9)
	// Every batch with record 3 fails, until the retries of the record are used up.
	rig.cfg.Function.Handler = func(ctx context.Context, payload []byte) ([]byte, error) {
		answer, _ := rig.handle(ctx, payload)
		for _, n := range rig.calls[len(rig.calls)-1].Records {
			if n == 3 {
				return nil, errors.New("three")
			}
		}
		return answer, nil
	}
	var discarded []string
	rig.cfg.OnDiscard = func(d Discard) { discarded = append(discarded, d.IDs...) }
	p := rig.poll(9)
	rig.want("1-8 1-4 1-2 3-4 3 3 3 4 5-8")
	must.Match(t, discarded, []string{number(3)})
	must.Equal(t, p.Discarded, 1)
	rig.poll(1)
	rig.want("9")
}

// TestBisectedPiecesKeepTheirEnds shows that a piece that is done in part does not grow into the
// next.
func TestBisectedPiecesKeepTheirEnds(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.BatchSize, c.Bisect = 8, true })
	rig.holds(1, 8)
	rig.script = []string{"!", failing(3)}
	rig.poll(4)
	rig.want("1-8 1-4 3-4 5-8")
}

func TestRetriesRunOut(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.MaxRetries = 1 })
	rig.holds(1, 5)
	rig.script = []string{"!", "!", failing(5), failing(5)}
	p := rig.poll(5)
	rig.want("1-3 1-3 4-5 5")
	must.Equal(t, p.Discarded, 4)
	must.Equal(t, p.Done, 1)
}

func TestTrimmedRecords(t *testing.T) {
	rig := newStreamRig(t, nil)
	sh := rig.holds(1, 9)
	rig.poll(1)
	sh.trimmed = 6
	rig.Restore(rig.Checkpoint())
	must.Equal(t, rig.poll(1).Trimmed, 1)
	rig.want("1-3 7-9")
}

func TestExpiredIterator(t *testing.T) {
	rig := newStreamRig(t, nil)
	sh := rig.holds(1, 2)
	rig.poll(1)
	sh.put(3, 3)
	rig.source.expired = true
	rig.poll(2)
	rig.want("1-2 3")
}

func TestErrorsOfTheSourceAreReturned(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.holds(1, 1)
	rig.source.shard("b", "").put(2, 2)
	rig.poll(1)
	rig.Restore(Checkpoint{Shards: map[string]ShardCheckpoint{"a": {}, "b": {}}})
	rig.poll(1)
	rig.took()
	rig.Restore(rig.Checkpoint())
	rig.poll(1)
	rig.source.shards["b"].put(3, 3)
	delete(rig.source.shards, "a")
	rig.Stream.shards["a"].rewind()
	_, err := rig.Poll(context.Background())
	must.Fail(t, err, "iterator of shard a")
	rig.want("3")
	// The list of shards is read again at once. The shard that is gone is no longer asked for.
	rig.source.order = []string{"b"}
	rig.poll(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := rig.Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context ended", err)
	}
}
