package esm

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// newWindowRig makes a mapping with windows of 100 s. Record n is created at second n.
func newWindowRig(t *testing.T, change func(*StreamConfig)) *streamRig {
	return newStreamRig(t, func(c *StreamConfig) {
		c.Window = 100 * time.Second
		if change != nil {
			change(c)
		}
	})
}

func TestEventOfAWindow(t *testing.T) {
	rig := newWindowRig(t, nil)
	rig.source.shard(`shardId-00000001573689847184-864758bb`, "").put(999, 999)
	rig.script = []string{`{"state":{"n": "1"}}`}
	rig.now = time.Unix(1000, 0)
	rig.poll(1)
	got := rig.calls[0]
	want := `],"window":{"start":"1970-01-01T00:15:00Z","end":"1970-01-01T00:16:40Z"},"state":{},"shardId":"shardId-00000001573689847184-864758bb","eventSourceARN":"` +
		streamARN + `","isFinalInvokeForWindow":false,"isWindowTerminatedEarly":false}`
	if !strings.HasSuffix(got.raw, want) {
		t.Errorf("event %s\nshould end in %s", got.raw, want)
	}
	if !got.Window.Start.Equal(time.Unix(900, 0)) || !got.Window.End.Equal(time.Unix(1000, 0)) || got.ShardID == "" ||
		got.EventSourceARN != streamARN || got.State == nil {
		t.Errorf("aws-lambda-go reads %+v", got)
	}
	// Two minutes after its end the window is over. Its last event has the state but no records.
	rig.now = time.Unix(1119, 0)
	must.Equal(t, rig.poll(1), Streamed{}, "before the window was over")
	rig.now = time.Unix(1120, 0)
	must.Equal(t, rig.poll(1).Finals, 1)
	want = `{"Records":[],"window":{"start":"1970-01-01T00:15:00Z","end":"1970-01-01T00:16:40Z"},"state":{"n":"1"},"shardId":"shardId-00000001573689847184-864758bb","eventSourceARN":"` +
		streamARN + `","isFinalInvokeForWindow":true,"isWindowTerminatedEarly":false}`
	if final := rig.calls[1].raw; strings.Replace(final, `{"n": "1"}`, `{"n":"1"}`, 1) != want {
		t.Errorf("final event %s\nshould be %s", final, want)
	}
}

func TestGraceOfAWindow(t *testing.T) {
	rig := newWindowRig(t, func(c *StreamConfig) { c.Grace = 5 * time.Second })
	rig.holds(999, 999)
	rig.now = time.Unix(1000, 0)
	rig.poll(1)
	for _, finals := range []int{0, 1} { // 4 s after its end, and 5 s
		rig.now = time.Unix(1004+int64(finals), 0)
		must.Equal(t, rig.poll(1).Finals, finals, rig.now)
	}
}

func TestWindowsSplitBatchesAndCarryState(t *testing.T) {
	rig := newWindowRig(t, nil)
	sh := rig.holds(98, 105)
	sh.putAt(106, time.Unix(99, 0)) // it is late, so it counts in the window that is open
	rig.script = []string{`{"state":{"n":"1"}}`, `{"state":{"n":"2"}}`, `{"state":{"n":"3"}}`}
	rig.poll(5)
	var states []string
	for _, c := range rig.calls {
		states = append(states, fmt.Sprint(c.State["n"]))
	}
	rig.want("98-99 final 100-102 103-105 106")
	// The state in the answer to the final call is not used, so the next window starts with none.
	must.Equal(t, strings.Join(states, ","), ",1,,3,")
}

// TestDrained has a case for each thing that a round may leave behind.
func TestDrained(t *testing.T) {
	rig := newWindowRig(t, nil)
	round := func(what string, want bool) {
		t.Helper()
		rig.poll(1)
		must.Equal(t, rig.Drained(), want, what)
	}
	must.Equal(t, rig.Drained(), false, "a stream that was never read")
	sh := rig.holds(98, 103)
	round("the next record is in a later window", false)
	round("that window ended, and nothing else was done", false)
	round("a full batch", false)
	round("the rest", true)
	sh.put(104, 104)
	rig.script = []string{"!"}
	round("a batch failed", false)
	rig.script = nil
	round("and was done", true)
	sh.put(105, 105)
	rig.source.expired = true
	round("the iterator had expired", false)
	round("there is a new one", true)
	sh.closed = true
	rig.source.shard("b", "a").put(106, 106)
	rig.now = time.Unix(1000, 0)
	round("the shard is closed, and its window has ended", false)
	round("there may be children", false)
	round("there was one", true)
}

func TestWindowNeedsAState(t *testing.T) {
	for _, answer := range []string{`{}`, `null`, `[]`, `{"state":null}`, `{"state":[]}`, `{"state":null,"batchItemFailures":[]}`,
		`{"State":{}}`} {
		rig := newWindowRig(t, nil)
		rig.holds(1, 4)
		rig.script = []string{answer}
		rig.poll(3)
		must.Equal(t, rig.took(), "1-3 1-3 4", answer)
	}
}

func TestPartialFailureInAWindowKeepsState(t *testing.T) {
	rig := newWindowRig(t, nil)
	rig.holds(1, 4)
	rig.script = []string{`{"state":{"n":"1"},"batchItemFailures":[{"itemIdentifier":"` + number(2) + `"}]}`}
	rig.poll(2)
	must.Equal(t, rig.calls[1].State["n"], "1")
	rig.want("1-3 2-4")
}

func TestEndOfShardEndsItsWindow(t *testing.T) {
	rig := newWindowRig(t, nil)
	sh := rig.holds(1, 2)
	sh.closed = true
	rig.source.shard("b", "a").put(3, 3)
	rig.script = []string{`{"state":{"n":"1"}}`, "!", `{}`}
	must.Equal(t, rig.poll(6), (Streamed{Invocations: 2, Records: 3, Done: 3, Finals: 3, Failed: 2, Finished: 1}))
	// The final call fails and holds up the shard, and so its child, until it succeeds.
	rig.want("1-2 final final final 3")
}

func TestTooLargeAStateEndsTheWindowEarly(t *testing.T) {
	rig := newWindowRig(t, nil)
	rig.holds(1, 7)
	large, err := json.Marshal(map[string]any{"state": map[string]string{"x": strings.Repeat("x", maxState)}})
	must.Succeed(t, err)
	rig.script = []string{`{"state":{"n":"1"}}`, string(large)}
	rig.poll(4)
	if c := rig.calls[2]; !c.IsWindowTerminatedEarly || !c.IsFinalInvokeForWindow || c.State["n"] != "1" {
		t.Errorf("third call: %s", c.raw)
	}
	if c := rig.calls[3]; c.IsWindowTerminatedEarly || len(c.State) != 0 {
		t.Errorf("fourth call: %s", c.raw)
	}
	rig.want("1-3 4-6 final 7")
}

func TestExpiredIteratorWithRecordsReadAhead(t *testing.T) {
	rig := newWindowRig(t, nil)
	sh := rig.holds(99, 100)
	rig.poll(1)
	rig.source.expired = true
	rig.poll(1)
	sh.put(101, 101)
	must.Equal(t, rig.poll(1).Records, 2)
	rig.want("99 final 100-101")
}

func TestCheckpointHoldsTheWindow(t *testing.T) {
	rig := newWindowRig(t, nil)
	rig.holds(1, 4)
	rig.script = []string{`{"state":{"n":"1"}}`, `{"state":{"n":"2"}}`}
	rig.poll(1)
	stale := rig.stored()
	rig.poll(1)
	rig.Restore(stale)
	rig.poll(1)
	must.Equal(t, rig.calls[2].State["n"], "1", "after going back")
	rig.want("1-3 4 4")
}

func TestFaultsOfAFinalCall(t *testing.T) {
	asked := 0
	second := func(inv Invocation) bool { asked++; return inv.Final && asked == 2 }
	for name, faults := range map[string]Faults{"drop": {DropAnswer: second}, "forget": {Forget: second},
		"duplicate": {Duplicate: second}} {
		asked = 0
		rig := newWindowRig(t, func(c *StreamConfig) { c.Function.Faults = faults })
		rig.holds(99, 100)
		rig.poll(4)
		must.Say(t, name+": "+rig.took(), name+": 99 final final 100")
	}
}
