package esm

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// streamRig is a mapping over a fake stream with one clock.
type streamRig struct {
	*Stream
	*recorder
	source *fakeStream
	now    time.Time
}

func newStreamRig(t *testing.T, change func(*StreamConfig)) *streamRig {
	t.Helper()
	rig := &streamRig{recorder: &recorder{t: t}, source: newFakeStream(), now: time.Unix(1000, 0)}
	cfg := StreamConfig{Client: rig.source, ARN: streamARN, BatchSize: 3, ReportBatchItemFailures: true,
		Function: Function{Handler: rig.handle, Now: func() time.Time { return rig.now }}}
	if change != nil {
		change(&cfg)
	}
	s, err := NewStream(cfg)
	must.Succeed(t, err)
	rig.Stream = s
	return rig
}

// holds makes the shard a, with the records from to to.
func (rig *streamRig) holds(from, to int) *fakeShard {
	sh := rig.source.shard("a", "")
	sh.put(from, to)
	return sh
}

// stored returns the checkpoint as it comes back from JSON.
func (rig *streamRig) stored() (c Checkpoint) {
	rig.t.Helper()
	text, err := json.Marshal(rig.Checkpoint())
	must.Succeed(rig.t, err)
	must.Succeed(rig.t, json.Unmarshal(text, &c))
	return c
}

// round returns the only round that is due.
func (rig *streamRig) round() *Round {
	rig.t.Helper()
	rounds, _, err := rig.Due(context.Background())
	if err != nil || len(rounds) != 1 {
		rig.t.Fatal(len(rounds), err)
	}
	return rounds[0]
}

// poll does n rounds, and adds up what they did.
func (rig *streamRig) poll(n int) Streamed {
	rig.t.Helper()
	var sum Streamed
	for range n {
		p, err := rig.Poll(context.Background())
		must.Succeed(rig.t, err)
		sum.add(p)
	}
	return sum
}

func (rig *streamRig) want(calls string) {
	rig.t.Helper()
	must.Equal(rig.t, rig.took(), calls)
}

func TestBatchesInOrder(t *testing.T) {
	rig := newStreamRig(t, nil)
	sh := rig.source.shard("a", "")
	rig.source.page = 2
	sh.put(1, 7)
	must.Equal(t, rig.poll(3), (Streamed{Invocations: 3, Records: 7, Done: 7}))
	rig.want("1-3 4-6 7")
	must.Equal(t, rig.poll(1), Streamed{})
	sh.put(8, 8)
	rig.poll(1)
	rig.want("8")
}

func TestEventWithoutWindowNamesNoShard(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.holds(1, 1)
	rig.poll(1)
	golden(t, []byte(rig.calls[0].raw),
		`{"Records":[{"eventID":"1","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1",
		"dynamodb":{"ApproximateCreationDateTime":1,"Keys":{"PK":{"S":"1"}},"NewImage":{"PK":{"S":"1"}},"SequenceNumber":"000000000000000000001","SizeBytes":0,
		"StreamViewType":"NEW_AND_OLD_IMAGES"},"eventSourceARN":"`+streamARN+`"}]}`)
}

// TestPartialFailure shows that the lowest failed record is the checkpoint. Everything after it
// comes again.
func TestPartialFailure(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.BatchSize = 5 })
	rig.holds(1, 6)
	rig.script = []string{
		`{"batchItemFailures":[{"itemIdentifier":"` + number(5) + `"},{"itemIdentifier":"` + number(3) + `"}]}`,
		failing(3), failing(6),
	}
	must.Equal(t, rig.poll(4), (Streamed{Invocations: 4, Failed: 3, Done: 6, Records: 5 + 4 + 4 + 1}))
	rig.want("1-5 3-6 3-6 6")
	must.Equal(t, rig.Checkpoint().Shards["a"].After, number(6))
}

func TestWholeFailureStandsStill(t *testing.T) {
	for _, answer := range []string{"!", "", "not JSON", `{"batchItemFailures":[{"itemIdentifier":""}]}`,
		`{"batchItemFailures":[{"itemIdentifier":null}]}`,
		`{"batchItemFailures":[{"id":"x"}]}`, failing(99), `"ok"`} {
		rig := newStreamRig(t, nil)
		rig.holds(1, 4)
		rig.script = []string{answer, answer}
		rig.poll(4)
		must.Equal(t, rig.took(), "1-3 1-3 1-3 4", answer)
	}
}

func TestWrongOuterNameIsSuccess(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.holds(1, 4)
	rig.script = []string{strings.Replace(failing(1), "batchItemFailures", "BatchItemFailures", 1), "{}"}
	rig.poll(2)
	rig.want("1-3 4")
}

func TestAnswerIsNotReadUnlessAsked(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.ReportBatchItemFailures = false })
	rig.holds(1, 7)
	rig.script = []string{failing(1), "not JSON", "!"}
	rig.poll(4)
	rig.want("1-3 4-6 7 7")
}

func TestParentsBeforeChildren(t *testing.T) {
	rig := newStreamRig(t, nil)
	parent, child, other := rig.source.shard("b-parent", ""), rig.source.shard("a-child", "b-parent"), rig.source.shard("c", "")
	orphan := rig.source.shard("d", "trimmed-long-ago")
	parent.put(1, 4)
	child.put(11, 12)
	other.put(21, 21)
	orphan.put(31, 31)
	parent.closed = true
	rig.script = []string{"!"}
	rig.poll(1)
	rig.want("1-3 21 31")
	rig.poll(1)
	rig.want("1-3")
	must.Equal(t, rig.poll(1).Finished, 1, "the last of the parent")
	rig.want("4")
	rig.poll(1)
	rig.want("11-12")
}

func TestShardsThatRollAreFoundAndForgotten(t *testing.T) {
	rig := newStreamRig(t, nil)
	first := rig.source.shard("a", "")
	first.put(1, 1)
	rig.poll(2)
	described := rig.source.calls["DescribeStream"]
	rig.poll(5)
	must.Equal(t, rig.source.calls["DescribeStream"], described, "no shard ended")
	first.closed = true
	rig.source.shard("b", "a").put(2, 2)
	rig.poll(2)
	rig.want("1 2")
	delete(rig.source.shards, "a")
	rig.source.order = []string{"b"}
	rig.now = rig.now.Add(rediscover)
	rig.poll(1)
	must.Equal(t, len(rig.Checkpoint().Shards), 1)
	must.Equal(t, rig.Checkpoint().Shards["b"].After, number(2))
}

func TestChildrenAreFoundWhileOthersGoOn(t *testing.T) {
	rig := newStreamRig(t, nil)
	first, other := rig.source.shard("a", ""), rig.source.shard("z", "")
	first.put(1, 1)
	other.put(21, 29)
	rig.poll(1)
	first.closed = true
	rig.source.shard("b", "a").put(2, 2)
	rig.poll(2)
	rig.want("1 21-23 24-26 2 27-29")
}

func TestBackToAStaleCheckpoint(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.holds(1, 7)
	rig.poll(1)
	stale := rig.stored()
	rig.poll(2)
	rig.want("1-3 4-6 7")
	rig.Restore(stale)
	rig.poll(3)
	rig.want("4-6 7")
	rig.Restore(Checkpoint{})
	rig.poll(1)
	rig.want("1-3")
}

func TestStreamConfigIsChecked(t *testing.T) {
	handler := func(context.Context, []byte) ([]byte, error) { return nil, nil }
	for want, change := range map[string]func(*StreamConfig){
		"BatchSize":   func(c *StreamConfig) { c.BatchSize = 10_001 },
		"Concurrency": func(c *StreamConfig) { c.Concurrency = -1 },
		"Window":      func(c *StreamConfig) { c.Window = 16 * time.Minute },
		"MaxRetries":  func(c *StreamConfig) { c.MaxRetries = -1 },
		"Handler":     func(c *StreamConfig) { c.Function.Handler = nil },
		"Timeout":     func(c *StreamConfig) { c.Function.Timeout = time.Hour },
	} {
		cfg := StreamConfig{ARN: streamARN, Function: Function{Handler: handler}}
		change(&cfg)
		_, err := NewStream(cfg)
		must.Fail(t, err, want)
	}
}

// TestShardsGoOnAlone shows that a shard whose round takes long does not hold up another, and is
// not asked twice at once.
func TestShardsGoOnAlone(t *testing.T) {
	rig := newStreamRig(t, nil)
	ctx := context.Background()
	rig.holds(1, 6)
	rig.source.shard("b", "").put(11, 16)
	due := func(want ...string) []*Round {
		t.Helper()
		rounds, p, err := rig.Due(ctx)
		if err != nil || !p.Idle() {
			t.Fatalf("did %+v, %v", p, err)
		}
		var got []string
		for _, r := range rounds {
			got = append(got, r.shard.id)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("rounds of %q, want %q", got, want)
		}
		return rounds
	}
	first := due("a", "b")
	due()
	must.Equal(t, first[1].Do(ctx), (Streamed{Invocations: 1, Records: 3, Done: 3}))
	due("b")[0].Do(ctx)
	due()
	rig.want("11-13 14-16")
	first[0].Do(ctx)
	rig.want("1-3")
	due("a")
}

// TestRoundOutlivesItsCheckpoint lets a poller fail over while a round is under way. The checkpoint
// that the round moves is no longer used. What the function did stays done.
func TestRoundOutlivesItsCheckpoint(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.holds(1, 3)
	before := rig.Checkpoint()
	round := rig.round()
	rig.Restore(before)
	round.Do(context.Background())
	rig.want("1-3")
	rig.poll(1)
	rig.want("1-3")
}

// TestAttempt shows that a caller can tell that the last round of a shard failed.
func TestAttempt(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.holds(1, 1)
	rig.script = []string{failing(1)}
	for _, want := range []int{1, 2} {
		round := rig.round()
		must.Equal(t, round.Attempt(), want)
		round.Do(context.Background())
	}
}

// TestChildrenOfARound shows that a shard that a round brings to its end makes way for its children
// at once, whatever other shards are still doing.
func TestChildrenOfARound(t *testing.T) {
	rig := newStreamRig(t, nil)
	ctx := context.Background()
	parent := rig.source.shard("a", "")
	parent.put(1, 1)
	parent.closed = true
	rig.source.shard("o", "").put(100, 100)
	for range 2 {
		rounds, _, err := rig.Due(ctx)
		must.Succeed(t, err)
		for _, r := range rounds {
			if r.shard.id != "o" { // the slow one
				r.Do(ctx)
			}
		}
		if rig.source.shards["p"] == nil {
			rig.source.shard("p", "a").put(2, 2)
		}
	}
	rig.want("1 2")
}
