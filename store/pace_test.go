package store

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

func TestPace(t *testing.T) {
	p := pace{limit: firstPace}
	answers := func(n int, o outcome) {
		for range n {
			p.learn(answer{outcome: o})
		}
	}
	for i, step := range []struct {
		n    int
		o    outcome
		want int
	}{
		{3, done, 4}, {1, done, 5}, {1, throttled, 2}, {2, throttled, 2}, {5, done, 2}, {2, failed, 3}, {1, throttled, 1},
		{3, done, 1}, {1, done, 2}, {1000, done, mostPace}, {1, throttled, mostPace / 2},
	} {
		if answers(step.n, step.o); p.now() != step.want {
			t.Errorf("step %d: %d requests side by side, want %d", i, p.now(), step.want)
		}
	}
}

// The number of requests that run at the same time follows the pace during a call, and stays below
// its bounds.
func TestEachFollowsThePace(t *testing.T) {
	for name, c := range map[string]struct{ concurrency, most, want int }{"to the bound": {0, 9, 9},
		"to the pace's own": {0, 100, mostPace}, "as configured": {3, 100, 3}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &tables{concurrency: c.concurrency, env: env.Env{}.Real()}
				s.pace.limit = firstPace
				var now, most atomic.Int64
				var mu sync.Mutex
				seen := map[int]bool{}
				s.each(1000, c.most, func(i int) {
					n := now.Add(1)
					mu.Lock()
					seen[i] = true
					most.Store(max(most.Load(), n))
					mu.Unlock()
					time.Sleep(time.Millisecond)
					now.Add(-1)
					s.pace.learn(answer{})
				})
				if len(seen) != 1000 || most.Load() != int64(c.want) {
					t.Errorf("%d of 1000 done, %d side by side, want %d", len(seen), most.Load(), c.want)
				}
				throttled := answer{outcome: throttled}
				for range 20 {
					s.pace.quiet = 0
					s.pace.learn(throttled)
				}
				most.Store(0)
				s.each(3, c.most, func(int) {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Millisecond)
					now.Add(-1)
				})
				if most.Load() != 1 {
					t.Errorf("%d side by side after throttles", most.Load())
				}
			})
		})
	}
}

// An answer that is too large is not read. The request fails, and the SDK does not send it again.
func TestBoundedAnswer(t *testing.T) {
	var asked atomic.Int32
	size, told := 0, false
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		if !told {
			w.(http.Flusher).Flush() // the answer then comes in chunks, and its length is not known before
		}
		body := []byte(`{"Responses":{"totals":[{"PK":{"S":"` + strings.Repeat("x", size) + `"}}]}}`)
		if told {
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		_, _ = w.Write(body)
	}))
	defer server.Close()
	whole := wire.Client()
	defer whole.CloseIdleConnections()
	client := dynamodb.New(dynamodb.Options{Region: "eu-central-1", BaseEndpoint: &server.URL, HTTPClient: whole,
		Credentials:                     credentials.NewStaticCredentialsProvider("id", "secret", ""),
		DisableValidateResponseChecksum: true})
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"totals": {Keys: []image{keyImage(event.Key{PK: "a",
		SK: "b"})}}}}
	for _, c := range []struct {
		size int
		told bool
		want outcome
	}{{maxAnswer - 100, false, done}, {maxAnswer, false, unknown}, {maxAnswer - 100, true, done}, {maxAnswer, true, unknown}} {
		size, told = c.size, c.told
		asked.Store(0)
		out, err := client.BatchGetItem(t.Context(), in, bounded)
		if a := classify(err); a.outcome != c.want || (c.want == unknown && asked.Load() != 1) ||
			errors.Is(err, errTooLarge) != (c.want == unknown) {
			t.Fatalf("%d bytes: %v after %d requests (%v)", c.size, a.outcome, asked.Load(), err)
		}
		if c.want == done && len(textOf(out.Responses["totals"][0]["PK"])) != c.size {
			t.Error("the answer is not whole")
		}
	}
}

// What the store remembers of totals is bounded by bytes. Twenty thousand totals that come again
// and again are all remembered. If there are more, those that came last are remembered.
func TestObservationsAreBounded(t *testing.T) {
	var all observations
	key := func(i int) event.Key { return event.Key{PK: fmt.Sprintf("A#by_customer#1#0#customer-%d", i), SK: "-"} }
	small := &observation{state: present, marks: make([]seenMark, 1), extremes: make([]aggregate.Amount, 2)}
	for round := range 3 {
		missed := 0
		for i := range 20_000 {
			if all.get(key(i)).state == unseen {
				missed++
			}
			all.put(key(i), small)
		}
		if want := map[bool]int{true: 20_000}[round == 0]; missed != want {
			t.Errorf("round %d: %d of 20,000 totals are forgotten", round, missed)
		}
	}
	large := &observation{state: present, marks: make([]seenMark, maxSeenMarks)}
	for i := range 100_000 {
		all.put(key(i), large)
		if kept := all.bytes; kept > maxObserved/2 {
			t.Fatalf("%d bytes are remembered", kept)
		}
	}
	if n := len(all.fresh) + len(all.old); n*large.bytes(key(0)) > maxObserved {
		t.Errorf("%d totals are remembered", n)
	}
	if all.get(key(99_999)).state != present {
		t.Error("the last one is forgotten")
	}
}

func TestObservationOfManyMarks(t *testing.T) {
	lane := lanes.LaneIDOf(event.Lane{ShardID: "own"})
	img := image{"PK": text("A#x"), "SK": text("-"), lane.MarkAttribute(): binary(make([]byte, 21))}
	own := lanes.MarkAt(event.Sequence{}, time.Unix(1_000_000, 0))
	img[lane.MarkAttribute()] = binary(own[:])
	for i := range 300 {
		mark := lanes.MarkAt(event.Sequence{}, time.Unix(int64(1000+i), 0))
		img["m:"+time.Duration(i).String()] = binary(mark[:])
	}
	o := observe(&aggregate.Definition{}, img, lane.MarkAttribute())
	if len(o.marks) != maxSeenMarks || o.markIndex(lane.MarkAttribute()) < 0 {
		t.Fatalf("%d marks, own at %d", len(o.marks), o.markIndex(lane.MarkAttribute()))
	}
	old := o.prunable(lane.MarkAttribute(), time.Unix(1_000_000, 0))
	if len(old) != maxSeenMarks-1 || old[0].mark.Created() != time.Unix(1000, 0).UTC() {
		t.Errorf("%d marks may go, the first of %s", len(old), old[0].mark.Created())
	}
}
