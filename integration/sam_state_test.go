package integration

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/samples"
	"github.com/ingot-events/ingot/internal/tool/archive"
	"github.com/ingot-events/ingot/store/query"
)

// checkItems checks that the events table holds one item for each event that must be stored, and no
// other.
func (w *samWorld) checkItems(t *testing.T, all *samples.Expected, s *samples.File) {
	t.Helper()
	want, got := map[string]int{}, map[string]int{}
	expect := func(s *samples.File) {
		for _, m := range s.Messages {
			if m.Verdict == "Inserted" || m.Verdict == "Updated" {
				want[m.Key.PK+" / "+m.Key.SK] = 1
			}
		}
	}
	for _, before := range s.After {
		expect(of(t, all, before)[0])
	}
	expect(s)
	for item, err := range w.store.Items(t.Context()) {
		must.Succeed(t, err)
		got[item.Key.PK+" / "+item.Key.SK]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("the events table holds %v, want %v", got, want)
	}
}

// checkLetters checks that the quarantine queue holds what must be in it, with the reason.
func (w *samWorld) checkLetters(t *testing.T, s *samples.File) {
	t.Helper()
	var want []string
	for _, m := range s.Messages {
		if m.Quarantined {
			want = append(want, m.Verdict+" "+m.Reason)
		}
	}
	for _, c := range s.Changes {
		if c.Outcome == "quarantined" {
			want = append(want, "Poison undecodable-record")
		}
	}
	got := w.letters(t, len(want))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the quarantine queue holds %q, want %q", got, want)
	}
}

// letters reads verdict and reason of everything in the queue. Some letters come only with a later
// request.
func (w *samWorld) letters(t *testing.T, expected int) (found []string) {
	t.Helper()
	for empty := 0; empty == 0 || (len(found) < expected && empty < 5); {
		in := &sqs.ReceiveMessageInput{QueueUrl: &w.queue, MaxNumberOfMessages: 10, MessageAttributeNames: []string{"All"},
			VisibilityTimeout: 600}
		if len(found) < expected {
			in.WaitTimeSeconds = 1
		}
		out, err := w.clients.SQS.ReceiveMessage(t.Context(), in)
		must.Succeed(t, err)
		if len(out.Messages) == 0 {
			empty++
		}
		for _, m := range out.Messages {
			var note struct{ Verdict, Reason string }
			if a := m.MessageAttributes[quarantine.Attribute].StringValue; a == nil || json.Unmarshal([]byte(*a), &note) != nil {
				t.Errorf("a letter without a readable %s attribute: %v", quarantine.Attribute, m.MessageAttributes)
			}
			found = append(found, note.Verdict+" "+note.Reason)
		}
	}
	return found
}

// checkTotals compares each total of the sample. If the sample names no total, it checks that none
// was made.
func (w *samWorld) checkTotals(t *testing.T, s *samples.File) {
	t.Helper()
	for _, want := range s.Totals {
		var from, to time.Time
		if want.Window != "" {
			at, err := time.Parse(time.RFC3339, want.Window)
			must.Succeed(t, err)
			from, to = at, at.Add(time.Second)
		}
		totals, err := query.Of(w.store).Total(t.Context(), want.Aggregate, want.By, from, to)
		if err != nil || len(totals) != 1 {
			t.Errorf("%s by %v at %q: %d totals, %v", want.Aggregate, want.By, want.Window, len(totals), err)
			continue
		}
		got, values := totals[0], map[string]string{}
		for name, value := range totals[0].Values {
			if want.Values[name] != "" || !value.IsZero() { // what the sample does not name is 0
				values[name] = value.String()
			}
		}
		if got.N != want.N || (len(got.Flags) > 0) != want.Flagged || !maps.Equal(values, want.Values) {
			t.Errorf("%s by %v: n %d, flags %q, %v; want n %d, flagged %v, %v", want.Aggregate, want.By, got.N, got.Flags, values, want.N,
				want.Flagged, want.Values)
		}
	}
	if len(s.Totals) > 0 {
		return
	}
	for total, err := range w.store.Totals(t.Context()) {
		must.Succeed(t, err)
		t.Errorf("a total that nothing should have made: %+v", total)
	}
}

// checkArchive checks that the bucket holds the item of each removal by time to live, and nothing
// else.
func (w *samWorld) checkArchive(t *testing.T, s *samples.File) {
	t.Helper()
	want, got := map[string]int{}, map[string]int{}
	for _, key := range s.Archived {
		want[key.PK+" / "+key.SK]++
	}
	for item, err := range (archive.Bucket{S3: w.clients.S3, Name: w.bucket}).Read(t.Context(), archive.Days{}) {
		must.Succeed(t, err)
		got[item.Event.Key.PK+" / "+item.Event.Key.SK]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("the archive holds %v, want %v", got, want)
	}
}
