package handler_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/samples"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/kit/testclock"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
)

// Every sample file goes through the handlers, by the real clock. INGOT_TEST_CLOCK_AHEAD sets the
// clock ahead.
func TestSamples(t *testing.T) {
	all := samples.Read(t, "..")
	for _, s := range all.Files {
		ways := bothWays
		if len(s.Counting) > 0 {
			ways = slices.DeleteFunc(slices.Clone(bothWays), func(c aggregate.Counting) bool {
				return !slices.Contains(s.Counting, c.String())
			})
		} else if s.Function == "ingest" {
			ways = bothWays[:1]
		}
		for _, c := range ways {
			t.Run(fmt.Sprint(s.File, " ", c), func(t *testing.T) {
				w := newWorld(t, counting(c), func(u *setup) {
					u.now = time.Now().Add(testclock.Ahead(t))
					u.load = func() (*pipeline.Pipeline, error) {
						return pipeline.Load(os.DirFS(".."), sampleshop.Pipeline, pipeline.Secret([]byte(all.Key)))
					}
				}).started()
				for _, before := range s.After {
					w.runFile(t, s.Function, before)
				}
				w.quarantined()
				w.outcomes, w.counted = nil, nil
				answer, err := w.runFile(t, s.Function, s.File)
				w.compareAnswer(t, s, answer, err)
				if s.Function == "ingest" {
					w.compareMessages(t, s)
				} else {
					w.compareChanges(t, s)
				}
			})
		}
	}
}

func (w *world) runFile(t *testing.T, function, name string) (string, error) {
	t.Helper()
	payload := must.Read(t, filepath.Join("..", "events", name))
	invoke, role := lambda.NewHandler(w.ingest.Handle), w.IngestRole
	if function == "streams" {
		invoke, role = lambda.NewHandler(w.streams.Handle), w.StreamsRole
	}
	answer, err := invoke.Invoke(iam.As(deadline(t), role), payload)
	return string(answer), err
}

func (w *world) compareAnswer(t *testing.T, s *samples.File, answer string, err error) {
	t.Helper()
	if (err != nil) != s.WholeBatchFails {
		t.Fatalf("error %v", err)
	}
	if err != nil {
		return
	}
	var got struct {
		BatchItemFailures *[]events.SQSBatchItemFailure `json:"batchItemFailures"`
		State             map[string]any                `json:"state"`
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || got.BatchItemFailures == nil || (got.State != nil) != s.State {
		t.Fatalf("answer %s: %v", answer, err)
	}
	var ids []string
	for _, f := range *got.BatchItemFailures {
		ids = append(ids, f.ItemIdentifier)
	}
	if !slices.Equal(ids, s.BatchItemFailures) {
		t.Errorf("returned %v, want %v", ids, s.BatchItemFailures)
	}
}

func (w *world) compareMessages(t *testing.T, s *samples.File) {
	t.Helper()
	if len(w.outcomes) != len(s.Messages) {
		t.Fatalf("%d outcomes of %d messages", len(w.outcomes), len(s.Messages))
	}
	items, kept := w.items(), 0
	for i, m := range s.Messages {
		o := w.outcomes[i]
		if o.Message.MessageId != m.ID || o.Verdict.String() != m.Verdict {
			t.Errorf("message %d: %s (%v), want %s", i, o.Verdict, o.Refusal, m.Verdict)
			continue
		}
		if o.Refusal != nil && string(o.Refusal.Reason) != m.Reason {
			t.Errorf("message %d: %v, want %s", i, o.Refusal, m.Reason)
		}
		if o.Verdict.Stored() && items[event.Key(*m.Key)] != 1 {
			t.Errorf("message %d: %s is stored %d times", i, m.Key, items[event.Key(*m.Key)])
		}
		if m.Quarantined != (o.Verdict.Quarantined() && !o.Failed) {
			t.Errorf("message %d: in quarantine %v, want %v", i, !m.Quarantined, m.Quarantined)
		}
		if m.Quarantined {
			kept++
		}
	}
	if letters := w.quarantined(); len(letters) != kept {
		t.Errorf("%d letters, want %d", len(letters), kept)
	}
}

func (w *world) compareChanges(t *testing.T, s *samples.File) {
	t.Helper()
	for _, want := range s.Totals {
		var from, to time.Time
		if want.Window != "" {
			at, err := time.Parse(time.RFC3339, want.Window)
			must.Succeed(t, err)
			from, to = at, at.Add(time.Second)
		}
		totals, err := query.Of(w.store).Total(deadline(t), want.Aggregate, want.By, from, to)
		if err != nil || len(totals) != 1 {
			t.Errorf("%s by %v at %s: %d totals, %v", want.Aggregate, want.By, want.Window, len(totals), err)
			continue
		}
		got := totals[0]
		if got.N != want.N || (len(got.Flags) > 0) != want.Flagged {
			t.Errorf("%s by %v: %+v, want %+v", want.Aggregate, want.By, got, want)
		}
		for _, name := range slices.Concat(slices.Collect(maps.Keys(want.Values)), slices.Collect(maps.Keys(got.Values))) {
			if value := cmp.Or(want.Values[name], "0"); got.Values[name].String() != value {
				t.Errorf("%s by %v: %s is %s, want %s", want.Aggregate, want.By, name, got.Values[name], value)
			}
		}
	}
	objects := w.archived()
	must.Equal(t, len(objects), len(s.Archived))
	count := map[string]int{}
	for _, c := range s.Changes {
		count[c.Outcome]++
	}
	if s.WholeBatchFails || len(s.Changes) == 0 {
		return
	}
	r := w.counted[len(w.counted)-1]
	if letters := len(w.quarantined()); r.Received != len(s.Changes) || r.Foreign != count["ignored"] ||
		r.Quarantined != count["quarantined"] || letters != count["quarantined"] || (r.Behind > 0) != (count["behind"] > 0) {
		t.Errorf("%+v and %d letters, want %v", r, letters, count)
	}
	if (r.Updates > 0) != (count["counted"] > 0) || (r.Dropped > 0) != (count["dropped"] > 0) {
		t.Errorf("%+v, want %v", r, count)
	}
	behind := false
	for _, def := range w.plan.Definitions() {
		behind = behind || w.head(def.Name).Building
	}
	must.Equal(t, behind, (count["behind"] > 0))
}
