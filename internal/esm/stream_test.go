package esm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
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
	if err != nil {
		t.Fatal(err)
	}
	rig.Stream = s
	return rig
}

// poll does n rounds and adds up what they did.
func (rig *streamRig) poll(n int) Streamed {
	rig.t.Helper()
	var sum Streamed
	for range n {
		p, err := rig.Poll(context.Background())
		if err != nil {
			rig.t.Fatal(err)
		}
		sum.add(p)
	}
	return sum
}

func (rig *streamRig) want(calls string) {
	rig.t.Helper()
	if got := rig.took(); got != calls {
		rig.t.Errorf("called with %q, want %q", got, calls)
	}
}

func TestBatchesInOrder(t *testing.T) {
	rig := newStreamRig(t, nil)
	sh := rig.source.shard("a", "")
	rig.source.page = 2
	sh.put(1, 7)
	if p := rig.poll(3); p != (Streamed{Invocations: 3, Records: 7, Done: 7}) {
		t.Errorf("did %+v", p)
	}
	rig.want("1-3 4-6 7")
	if p := rig.poll(1); !p.Idle() {
		t.Errorf("did %+v with nothing there", p)
	}
	sh.put(8, 8)
	rig.poll(1)
	rig.want("8")
}

func TestEventWithoutWindowNamesNoShard(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.source.shard("a", "").put(1, 1)
	rig.poll(1)
	golden(t, []byte(rig.calls[0].raw), `{"Records":[{"eventID":"1","eventName":"INSERT","eventVersion":"1.1","eventSource":"aws:dynamodb","awsRegion":"us-east-1",
		"dynamodb":{"ApproximateCreationDateTime":1,"Keys":{"PK":{"S":"1"}},"NewImage":{"PK":{"S":"1"}},"SequenceNumber":"000000000000000000001","SizeBytes":0,
		"StreamViewType":"NEW_AND_OLD_IMAGES"},"eventSourceARN":"`+streamARN+`"}]}`)
}

// TestPartialFailure: the lowest failed record is the checkpoint; everything after it comes again.
func TestPartialFailure(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.BatchSize = 5 })
	rig.source.shard("a", "").put(1, 6)
	rig.script = []string{
		`{"batchItemFailures":[{"itemIdentifier":"` + number(5) + `"},{"itemIdentifier":"` + number(3) + `"}]}`,
		failing(3), failing(6),
	}
	p := rig.poll(4)
	rig.want("1-5 3-6 3-6 6")
	if p.Failed != 3 || p.Done != 6 || p.Records != 5+4+4+1 {
		t.Errorf("did %+v", p)
	}
	if after := rig.Checkpoint().Shards["a"].After; after != number(6) {
		t.Errorf("checkpoint after %s", after)
	}
}

func TestWholeFailureStandsStill(t *testing.T) {
	for _, answer := range []string{"!", "", "not JSON", `{"batchItemFailures":[{"itemIdentifier":""}]}`, `{"batchItemFailures":[{"itemIdentifier":null}]}`,
		`{"batchItemFailures":[{"id":"x"}]}`, failing(99), `"ok"`} {
		rig := newStreamRig(t, nil)
		rig.source.shard("a", "").put(1, 4)
		rig.script = []string{answer, answer}
		rig.poll(4)
		if got := rig.took(); got != "1-3 1-3 1-3 4" {
			t.Errorf("answer %q: called with %q", answer, got)
		}
	}
}

func TestWrongOuterNameIsSuccess(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.source.shard("a", "").put(1, 4)
	rig.script = []string{strings.Replace(failing(1), "batchItemFailures", "BatchItemFailures", 1), "{}"}
	rig.poll(2)
	rig.want("1-3 4")
}

func TestAnswerIsNotReadUnlessAsked(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.ReportBatchItemFailures = false })
	rig.source.shard("a", "").put(1, 7)
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
	if p := rig.poll(1); p.Finished != 1 {
		t.Errorf("the last of the parent: %+v", p)
	}
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
	if n := rig.source.calls["DescribeStream"]; n != described {
		t.Errorf("described %d times more though no shard ended", n-described)
	}
	first.closed = true
	rig.source.shard("b", "a").put(2, 2)
	rig.poll(2)
	rig.want("1 2")
	delete(rig.source.shards, "a")
	rig.source.order = []string{"b"}
	rig.now = rig.now.Add(rediscover)
	rig.poll(1)
	if c := rig.Checkpoint(); len(c.Shards) != 1 || c.Shards["b"].After != number(2) {
		t.Errorf("checkpoint %+v", c)
	}
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
	rig.source.shard("a", "").put(1, 7)
	rig.poll(1)
	stored, err := json.Marshal(rig.Checkpoint())
	if err != nil {
		t.Fatal(err)
	}
	rig.poll(2)
	rig.want("1-3 4-6 7")
	var stale Checkpoint
	if err := json.Unmarshal(stored, &stale); err != nil {
		t.Fatal(err)
	}
	rig.Restore(stale)
	rig.poll(3)
	rig.want("4-6 7")
	rig.Restore(Checkpoint{})
	rig.poll(1)
	rig.want("1-3")
}

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
		rig.source.shard("a", "").put(1, 7)
		p := rig.poll(3)
		if got := rig.took(); got != tt.calls {
			t.Errorf("%s: called with %q, want %q", name, got, tt.calls)
		}
		if failed := p.Failed; (name == "drop") != (failed == 1) {
			t.Errorf("%s: %d failures", name, failed)
		}
	}
}

func TestBisect(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.BatchSize, c.Bisect, c.MaxRetries = 8, true, 2 })
	rig.source.shard("a", "").put(1, 9)
	// Record 3 fails whatever comes with it, until its retries are used up.
	rig.cfg.Function.Handler = func(ctx context.Context, payload []byte) ([]byte, error) {
		answer, _ := rig.handle(ctx, payload)
		for _, n := range rig.calls[len(rig.calls)-1].Records {
			if n == 3 {
				return nil, errors.New("three")
			}
		}
		return answer, nil
	}
	var discarded []Discard
	rig.cfg.OnDiscard = func(d Discard) { discarded = append(discarded, d) }
	p := rig.poll(9)
	rig.want("1-8 1-4 1-2 3-4 3 3 3 4 5-8")
	if len(discarded) != 1 || len(discarded[0].IDs) != 1 || discarded[0].IDs[0] != number(3) || discarded[0].Reason != "RetryAttemptsExhausted" || p.Discarded != 1 {
		t.Errorf("discarded %+v", discarded)
	}
	rig.poll(1)
	rig.want("9")
}

// TestBisectedPiecesKeepTheirEnds: a part that is done in part does not grow into the next.
func TestBisectedPiecesKeepTheirEnds(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.BatchSize, c.Bisect = 8, true })
	rig.source.shard("a", "").put(1, 8)
	rig.script = []string{"!", failing(3)}
	rig.poll(4)
	rig.want("1-8 1-4 3-4 5-8")
}

func TestRetriesRunOut(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.MaxRetries = 1 })
	rig.source.shard("a", "").put(1, 5)
	rig.script = []string{"!", "!", failing(5), failing(5)}
	p := rig.poll(5)
	rig.want("1-3 1-3 4-5 5")
	if p.Discarded != 4 || p.Done != 1 {
		t.Errorf("did %+v", p)
	}
}

func TestOldRecordsAreDiscarded(t *testing.T) {
	rig := newStreamRig(t, func(c *StreamConfig) { c.MaxAge = time.Minute })
	rig.source.shard("a", "").put(938, 941)
	if p := rig.poll(1); p.Discarded != 2 {
		t.Errorf("did %+v", p)
	}
	rig.want("940-941")
}

func TestTrimmedRecords(t *testing.T) {
	rig := newStreamRig(t, nil)
	sh := rig.source.shard("a", "")
	sh.put(1, 9)
	rig.poll(1)
	sh.trimmed = 6
	rig.Restore(rig.Checkpoint())
	if p := rig.poll(1); p.Trimmed != 1 {
		t.Errorf("did %+v", p)
	}
	rig.want("1-3 7-9")
}

func TestExpiredIterator(t *testing.T) {
	rig := newStreamRig(t, nil)
	sh := rig.source.shard("a", "")
	sh.put(1, 2)
	rig.poll(1)
	sh.put(3, 3)
	rig.source.expired = true
	rig.poll(2)
	rig.want("1-2 3")
}

func TestErrorsOfTheSourceAreReturned(t *testing.T) {
	rig := newStreamRig(t, nil)
	rig.source.shard("a", "").put(1, 1)
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
	if err == nil || !strings.Contains(err.Error(), "iterator of shard a") {
		t.Errorf("error %v", err)
	}
	rig.want("3")
	// The list of shards is read again at once, and the shard that is gone is no longer asked for.
	rig.source.order = []string{"b"}
	rig.poll(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := rig.Poll(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v after the context ended", err)
	}
}

func TestStreamConfigIsChecked(t *testing.T) {
	handler := func(context.Context, []byte) ([]byte, error) { return nil, nil }
	for want, change := range map[string]func(*StreamConfig){
		"BatchSize":   func(c *StreamConfig) { c.BatchSize = 10_001 },
		"Concurrency": func(c *StreamConfig) { c.Concurrency = -1 },
		"Window":      func(c *StreamConfig) { c.Window = 16 * time.Minute },
		"MaxRetries":  func(c *StreamConfig) { c.MaxRetries = -1 },
		"MaxAge":      func(c *StreamConfig) { c.MaxAge = time.Second },
		"Handler":     func(c *StreamConfig) { c.Function.Handler = nil },
		"Timeout":     func(c *StreamConfig) { c.Function.Timeout = time.Hour },
	} {
		cfg := StreamConfig{ARN: streamARN, Function: Function{Handler: handler}}
		change(&cfg)
		if _, err := NewStream(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v", want, err)
		}
	}
}
