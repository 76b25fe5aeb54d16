package cost

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/lambda/esm"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/pipeline"
)

// postsFile has posts that are kept for ten days, and notes that stand below them and are kept for
// ever.
const postsFile = `ingot: 1
epoch: 1
type: "{type}"
events:
  post:
    id: "{id}"
    at: "{at}"
    key: {pk: "POST#{id}", sk: "-"}
    indexes: {GSI1: {pk: "AUTHOR#{author}", sk: "{@at | time}#{id}"}}
    retain: 10d
    offload: {over: 1KB}
  note:
    id: "{id}"
    at: "{at}"
    key: {pk: "NOTE#{id}", sk: "-"}
    offload: {over: 2KB}
`

// somePosts returns posts and notes, of which some are large. Every tenth comes again some batches
// later, and every twentieth comes with another text.
func somePosts(n, batch int) (lines []string) {
	text := func(i, salt int) string {
		typ, size := "post", 100
		if i%3 == 0 {
			size = 3000 + 10*i
		}
		if i%4 == 1 {
			typ = "note"
		}
		return fmt.Sprintf(`{"type":%q,"id":"%d","author":"a-%d","at":"2026-03-14T09:00:00Z","text":"%d%s"}`, typ, i, i%5, salt,
			strings.Repeat("x", size))
	}
	for i := range n {
		lines = append(lines, text(i, 0))
	}
	for i := n - 1 - batch; i >= 0; i -= 10 {
		lines = slices.Insert(lines, i+1+batch, lines[i])
		if i/10%2 == 0 {
			lines = slices.Insert(lines, i+1+batch, text(i, 1))
		}
	}
	return lines
}

// What is computed for the payload bucket is what is sent to it: when events are stored, come
// again, conflict and are archived, with few in a batch and with many. What is kept there has as
// many bytes.
func TestPayloadsAreWhatIsSent(t *testing.T) {
	p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(postsFile)}}, "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, batch := range []int{1, 50} {
		t.Run(fmt.Sprintf("%d in a batch", batch), func(t *testing.T) {
			lines := somePosts(300, batch)
			at := time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC)
			sent := map[string]float64{}
			count := func(_ context.Context, api string, input any, call func() (any, error)) (any, error) {
				switch in := input.(type) {
				case *s3.PutObjectInput:
					sent[api+" "+*in.Bucket]++
				case *s3.GetObjectInput:
					sent[api+" "+*in.Bucket]++
				}
				return call()
			}
			w, err := testworld.New(t.Context(), testworld.Config{Start: at, Stack: stack.Config{Indexes: p.Indexes(), Offload: true},
				Engine: embedded.Config{Intercept: count}})
			if err != nil {
				t.Fatal(err)
			}
			st, err := w.Store(p)
			if err == nil {
				err = st.Start(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			before, verdicts := w.Engine.Usage(), map[event.Verdict]int{}
			for some := range slices.Chunk(lines, batch) {
				var items []*event.Item
				for _, line := range some {
					item, err := p.Plan(envelope.Message{Body: line})
					if err != nil {
						t.Fatal(err)
					}
					items = append(items, item)
				}
				results, _ := st.Put(t.Context(), items)
				for _, r := range results {
					verdicts[r.Verdict]++
				}
			}
			if verdicts[event.Inserted] != 300 || verdicts[event.Duplicate] < 20 || verdicts[event.Conflict] < 10 {
				t.Fatalf("verdicts: %v", verdicts)
			}
			units := w.Engine.Usage().Sub(before).WriteUnits()
			get := "GetObject " + stack.Payloads
			storing := sent[get]
			kept := objectsIn(t, w)
			expire(t, w, p)

			sample := sampledBy(t, p, NewSampled("events", 1, 1000, float64(batch)), strings.Join(lines, "\n")+"\n")
			r := Compute(Input{Name: "p.yaml", Pipeline: p, Rate: 100, Partitions: 1, Memory: DefaultMemory, Architecture: "arm64",
				Events: sample, Messages: float64(batch)})
			n := float64(len(lines)) / 1e6
			computed := func(part, counted string) float64 { return of(r, part, counted) * n }
			for _, c := range []struct {
				what                     string
				computed, counts, within float64
			}{
				{"PUT requests for payloads", computed("payload bucket", "PUT requests"), sent["PutObject "+stack.Payloads], 0.001},
				{"GET requests to store", computed("payload bucket", "GET requests"), storing, 0.001},
				{"GET requests to archive", computed("archive", "GET requests"), sent[get] - storing, 0.001},
				{"PUT requests to archive", computed("archive", "PUT requests"), sent["PutObject "+stack.Bucket], 0.001},
				{"write units to store", computed("puts", "write units") + computed("indexes", "write units") +
					computed("repetitions", "write units"), units, 0.03},
				{"bytes of posts", sample.apart.kept / (40 * 24 * time.Hour).Seconds(), kept["post"], 0.001},
				{"bytes of notes", sample.apart.forever, kept["note"], 0.001},
			} {
				t.Logf("%-26s computed %.0f, counted %.0f", c.what, c.computed, c.counts)
				if c.counts == 0 || math.Abs(c.computed-c.counts) > c.within*c.counts {
					t.Errorf("%s: %.1f computed, and %.0f counted", c.what, c.computed, c.counts)
				}
			}
			// What comes again without being in the sample puts its payload again, too.
			again := Compute(Input{Name: "p.yaml", Pipeline: p, Rate: 100, Duplicates: 1, Partitions: 1, Memory: DefaultMemory,
				Architecture: "arm64", Events: sample, Messages: float64(batch)})
			more := of(again, "payload bucket", "PUT requests") - of(r, "payload bucket", "PUT requests")
			if each := sample.apart.stored / sample.verdicts[event.Inserted]; math.Abs(more-each*1e6) > 1 {
				t.Errorf("a million more deliveries put %.0f payloads, want %.0f", more, each*1e6)
			}
			if r, again := seconds(r), seconds(again); again <= r {
				t.Errorf("the ingest function takes %.3f GB-seconds, and %.3f with more to put", r, again)
			}
		})
	}
}

func seconds(r *Report) float64 { return of(r, "ingest function", "GB-seconds") }

// objectsIn returns how many bytes the payload bucket holds of each event type.
func objectsIn(t *testing.T, w *testworld.World) map[string]float64 {
	t.Helper()
	out, err := w.Engine.S3().ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String(stack.Payloads)})
	if err != nil || aws.ToBool(out.IsTruncated) {
		t.Fatal(err, "or the bucket has too many objects for one list")
	}
	bytes := map[string]float64{}
	for _, o := range out.Contents {
		typ, _, _ := strings.Cut(*o.Key, "/")
		bytes[typ] += float64(*o.Size)
	}
	return bytes
}

// expire lets everything expire that does, and the streams function archive it.
func expire(t *testing.T, w *testworld.World, p *pipeline.Pipeline) {
	t.Helper()
	st, err := w.Store(p)
	if err == nil {
		err = st.Start(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
	streams := w.Streams(st)
	m, err := w.MapStream(
		esm.StreamConfig{BatchSize: 100, Window: w.Window(),
			Function: esm.Function{Handler: func(ctx context.Context, payload []byte) ([]byte, error) {
				response, err := streams.Handle(ctx, payload)
				if err != nil {
					return nil, err
				}
				return json.Marshal(response)
			}}, OnFailure: func(_ esm.Invocation, err error) {
				if err != nil {
					t.Fatal(err)
				}
			}})
	if err != nil {
		t.Fatal(err)
	}
	w.Clock.Pass(11 * 24 * time.Hour)
	w.Engine.Sweep(math.MaxInt)
	for {
		polled, err := m.Poll(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if polled.Idle() {
			return
		}
	}
}
