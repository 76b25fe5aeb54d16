package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
)

// requests looks at the requests of one API.
func requests(api string, look func(in any)) func(string, any) error {
	return func(called string, in any) error {
		if called == api {
			look(in)
		}
		return nil
	}
}

// A request of statements holds 25 items or 2 MiB of them, whichever is less. It never asks for the
// stored items.
func TestStatementsAreBounded(t *testing.T) {
	for name, c := range map[string]struct{ items, kilobytes, requests int }{
		"small ones":         {60, 1, 3},
		"at the bound":       {50, 80, 2},
		"over the bound":     {50, 83, 3},
		"the largest":        {10, 390, 2},
		"one over the bound": {26, 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			sent := 0
			w := newWorld(t, func(s *setup) { s.tables.Concurrency = 1 })
			w.onCall = requests("BatchExecuteStatement", func(in any) {
				sent++
				bytes := 0
				for _, s := range in.(*dynamodb.BatchExecuteStatementInput).Statements {
					if s.ReturnValuesOnConditionCheckFailure == types.ReturnValuesOnConditionCheckFailureAllOld {
						t.Error("it asks for the stored item")
					}
					for _, p := range s.Parameters {
						bytes += len(rows.TextOf(p))
					}
				}
				if bytes > 2<<20 {
					t.Errorf("a request of %d bytes", bytes)
				}
			})
			items := w.orders(0, c.items, fmt.Sprintf(`"note":%q`, strings.Repeat("n", c.kilobytes<<10)))
			results, _ := w.arrive(items...)
			if strings.Count(verdicts(results), "Inserted") != len(items) || sent != c.requests {
				t.Errorf("%d requests, want %d: %s", sent, c.requests, verdicts(results))
			}
		})
	}
}

// Stored items are read without their payloads, 100 at a time. The payload is read only if the
// digest differs, five at a time. No result keeps a payload.
func TestPayloadsAreReadFewAtATime(t *testing.T) {
	var asked []string
	w := newWorld(t)
	w.onCall = requests("BatchGetItem", func(in any) {
		request := in.(*dynamodb.BatchGetItemInput).RequestItems["events"]
		what := "summaries"
		for _, name := range request.ExpressionAttributeNames {
			if name == "data" {
				what = "payloads"
			}
		}
		asked = append(asked, fmt.Sprint(len(request.Keys), " ", what))
	})
	s := w.open(tables.Config{Events: "events", Env: env.Env{Now: w.Clock.Now}, Concurrency: 1})
	var stored, again events
	for i := range 130 {
		stored = append(stored, w.order(fmt.Sprint(i), i))
		if i%10 == 0 {
			again = append(again, w.order(fmt.Sprint(i), i+1))
		} else {
			again = append(again, w.order(fmt.Sprint(i), i))
		}
	}
	s.Put(deadline(t), stored)
	results, cost := s.Put(deadline(t), again)
	if got := fmt.Sprint(asked); got != "[100 summaries 30 summaries 5 payloads 5 payloads 3 payloads]" || cost.ReadUnits != 143 {
		t.Errorf("%s, %v read units", got, cost.ReadUnits)
	}
	for i, r := range results {
		conflict := i%10 == 0
		if (r.Verdict == event.Conflict) != conflict || r.Existing == nil || r.Existing.Data != "" ||
			r.Existing.Digest != stored[i].Digest || r.Existing.Key != stored[i].Key {
			t.Fatalf("item %d: %s, existing %+v", i, r.Verdict, r.Existing)
		}
		if conflict && !strings.Contains(r.Refusal.Detail, "they differ in cents") {
			t.Errorf("%v", r.Refusal)
		}
	}
}

// If an answer is about another number of statements than were sent, it says nothing about any of
// them.
func TestAnswerOfAnotherLength(t *testing.T) {
	for name, edit := range map[string]func(out *dynamodb.BatchExecuteStatementOutput){
		"shorter": func(out *dynamodb.BatchExecuteStatementOutput) { out.Responses = out.Responses[1:] },
		"longer": func(out *dynamodb.BatchExecuteStatementOutput) {
			out.Responses = append([]types.BatchStatementResponse{{}}, out.Responses...)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.arrive(w.order("3", 99)) // the fourth conflicts with it
			w.faults = []fault{{API: "BatchExecuteStatement", Edit: func(out any) { edit(out.(*dynamodb.BatchExecuteStatementOutput)) }}}
			items := w.orders(0, 10)
			results, cost := w.arrive(items...)
			want := "Duplicate Duplicate Duplicate Conflict Duplicate Duplicate Duplicate Duplicate Duplicate Duplicate"
			if got := verdicts(results); got != want || cost.Retries != 10 {
				t.Errorf("%s after %d were sent again", got, cost.Retries)
			}
			later := w.started(added(2, 2))
			w.faults = []fault{{API: "BatchExecuteStatement", Edit: func(out any) { edit(out.(*dynamodb.BatchExecuteStatementOutput)) }}}
			meter := w.meter()
			must.Succeed(t, errorOf(repair.Of(later).Touch(deadline(t))))
			must.Equal(t, meter().Requests["BatchExecuteStatement"], 2)
		})
	}
}
