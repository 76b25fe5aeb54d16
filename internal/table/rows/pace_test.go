package rows

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
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/nearby"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

func TestPace(t *testing.T) {
	p := pace{limit: firstPace}
	answers := func(n int, o outcome) {
		for range n {
			p.Learn(Answer{Outcome: o})
		}
	}
	for i, step := range []struct {
		n    int
		o    outcome
		want int
	}{
		{3, Done, 4}, {1, Done, 5}, {1, Throttled, 2}, {2, Throttled, 2}, {5, Done, 2}, {2, Failed, 3}, {1, Throttled, 1},
		{3, Done, 1}, {1, Done, 2}, {1000, Done, MostPace}, {1, Throttled, MostPace / 2},
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
		"to the pace's own": {0, 100, MostPace}, "as configured": {3, 100, 3}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &Tables{concurrency: c.concurrency, Env: env.Env{}.Real()}
				s.Pace.limit = firstPace
				var now, most atomic.Int64
				var mu sync.Mutex
				seen := map[int]bool{}
				s.Each(1000, c.most, func(i int) {
					n := now.Add(1)
					mu.Lock()
					seen[i] = true
					most.Store(max(most.Load(), n))
					mu.Unlock()
					time.Sleep(time.Millisecond)
					now.Add(-1)
					s.Pace.Learn(Answer{})
				})
				if len(seen) != 1000 || most.Load() != int64(c.want) {
					t.Errorf("%d of 1000 done, %d side by side, want %d", len(seen), most.Load(), c.want)
				}
				throttled := Answer{Outcome: Throttled}
				for range 20 {
					s.Pace.quiet = 0
					s.Pace.Learn(throttled)
				}
				most.Store(0)
				s.Each(3, c.most, func(int) {
					most.Store(max(most.Load(), now.Add(1)))
					time.Sleep(time.Millisecond)
					now.Add(-1)
				})
				must.Equal(t, most.Load(), 1)
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
	whole := nearby.Client()
	defer whole.CloseIdleConnections()
	client := dynamodb.New(dynamodb.Options{Region: "eu-central-1", BaseEndpoint: &server.URL, HTTPClient: whole,
		Credentials:                     credentials.NewStaticCredentialsProvider("id", "secret", ""),
		DisableValidateResponseChecksum: true})
	in := &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"totals": {Keys: []Image{KeyImage(event.Key{PK: "a",
		SK: "b"})}}}}
	for _, c := range []struct {
		size int
		told bool
		want outcome
	}{{MaxAnswer - 100, false, Done}, {MaxAnswer, false, Unknown}, {MaxAnswer - 100, true, Done}, {MaxAnswer, true, Unknown}} {
		size, told = c.size, c.told
		asked.Store(0)
		out, err := client.BatchGetItem(t.Context(), in, Bounded)
		if a := Classify(err); a.Outcome != c.want || (c.want == Unknown && asked.Load() != 1) ||
			errors.Is(err, ErrTooLarge) != (c.want == Unknown) {
			t.Fatalf("%d bytes: %v after %d requests (%v)", c.size, a.Outcome, asked.Load(), err)
		}
		if c.want == Done && len(TextOf(out.Responses["totals"][0]["PK"])) != c.size {
			t.Error("the answer is not whole")
		}
	}
}

// What the store remembers of totals is bounded by bytes. Twenty thousand totals that come again
// and again are all remembered. If there are more, those that came last are remembered.
func TestObservationsAreBounded(t *testing.T) {
	var all Observations
	key := func(i int) event.Key { return event.Key{PK: fmt.Sprintf("A#by_customer#1#0#customer-%d", i), SK: "-"} }
	small := &Observation{State: Present, Marks: make([]seenMark, 1), extremes: make([]aggregate.Amount, 2)}
	for round := range 3 {
		missed := 0
		for i := range 20_000 {
			if all.Get(key(i)).State == unseen {
				missed++
			}
			all.Put(key(i), small)
		}
		if want := map[bool]int{true: 20_000}[round == 0]; missed != want {
			t.Errorf("round %d: %d of 20,000 totals are forgotten", round, missed)
		}
	}
	large := &Observation{State: Present, Marks: make([]seenMark, maxSeenMarks)}
	for i := range 100_000 {
		all.Put(key(i), large)
		if kept := all.bytes; kept > maxObserved/2 {
			t.Fatalf("%d bytes are remembered", kept)
		}
	}
	if n := len(all.fresh) + len(all.old); n*large.bytes(key(0)) > maxObserved {
		t.Errorf("%d totals are remembered", n)
	}
	must.Equal(t, all.Get(key(99_999)).State, Present)
}

func TestObservationOfManyMarks(t *testing.T) {
	lane := lanes.LaneIDOf(event.Lane{ShardID: "own"})
	img := Image{"PK": Text("A#x"), "SK": Text("-"), lane.MarkAttribute(): Binary(make([]byte, 21))}
	own := lanes.MarkAt(event.Sequence{}, time.Unix(1_000_000, 0))
	img[lane.MarkAttribute()] = Binary(own[:])
	for i := range 300 {
		mark := lanes.MarkAt(event.Sequence{}, time.Unix(int64(1000+i), 0))
		img["m:"+time.Duration(i).String()] = Binary(mark[:])
	}
	o := Observe(&aggregate.Definition{}, img, lane.MarkAttribute())
	if len(o.Marks) != maxSeenMarks || o.markIndex(lane.MarkAttribute()) < 0 {
		t.Fatalf("%d marks, own at %d", len(o.Marks), o.markIndex(lane.MarkAttribute()))
	}
	old := o.prunable(lane.MarkAttribute(), time.Unix(1_000_000, 0))
	if len(old) != maxSeenMarks-1 || old[0].mark.Created() != time.Unix(1000, 0).UTC() {
		t.Errorf("%d marks may go, the first of %s", len(old), old[0].mark.Created())
	}
}
