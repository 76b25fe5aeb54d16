package handler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// This test checks the bytes of the answer. A wrong outer key would read as an empty list. That
// means success for everything, so SQS would delete every message.
func TestIngestAnswerBytes(t *testing.T) {
	w := newWorld(t)
	must.Equal(t, w.receive(messages()), `{"batchItemFailures":[]}`)
	must.Equal(t, w.receive(messages(order("1", 1))), `{"batchItemFailures":[]}`)
	w.ingest.Quarantine = nil
	must.Equal(t, w.receive(messages(order("2", 1), "x", order("3", 1),
		"y")), `{"batchItemFailures":[{"itemIdentifier":"m1"},{"itemIdentifier":"m3"}]}`)
	answer, err := lambda.NewHandler(w.ingest.Handle).Invoke(iam.As(deadline(t), w.IngestRole), []byte(`{"Records":[]}`))
	if err != nil || strings.TrimSpace(string(answer)) != `{"batchItemFailures":[]}` {
		t.Errorf("no records: %s %v", answer, err)
	}
}

// An event of another service has no records, or no message ids. An answer with an empty list would
// be wrong, because an asynchronous caller would take it for a success, and so would empty ids.
func TestIngestRefusesAnotherServicesEvent(t *testing.T) {
	w := newWorld(t)
	for _, payload := range []string{
		`{}`, `{"Records":null}`, `null`,
		`{"version":"0","id":"1","detail-type":"order.placed","source":"shop","detail":` + order("1", 1) + `}`,
		`{"version":"2.0","routeKey":"$default","body":"{}"}`, order("1", 1), // API Gateway, and a bare payload
	} {
		_, err := lambda.NewHandler(w.ingest.Handle).Invoke(iam.As(deadline(t), w.IngestRole), []byte(payload))
		must.Fail(t, err, "it is not from SQS, and nothing is stored")
	}
	for _, payload := range []string{`[]`, `"x"`, `{"Records":{}}`} { // which Lambda's own library refuses
		if answer, err := lambda.NewHandler(w.ingest.Handle).Invoke(iam.As(deadline(t), w.IngestRole), []byte(payload)); err == nil {
			t.Errorf("%s: %s", payload, answer)
		}
	}
	e := messages(order("1", 1), order("2", 1))
	e.Records[1].MessageId = ""
	_, err := w.handleQueue(deadline(t), e)
	must.Fail(t, err, "SQS")
	must.Equal(t, len(w.items()), 0)
}

// Each id in the answer appears once, in event order, even if one message is in the event twice.
func TestIngestNamesEachIDOnce(t *testing.T) {
	w := newWorld(t)
	w.ingest.Quarantine = nil
	e := messages("x", order("1", 1), "x", order("2", 1), "y")
	e.Records[2].MessageId = "m0"
	e.Records[3].MessageId = "m0"
	must.Equal(t, w.receive(e), failures("m0", "m4"))
}

// Copies in one batch take one write, and each copy is judged by its own digest.
func TestIngestCopies(t *testing.T) {
	w := newWorld(t)
	bodies := []string{order("1", 1), order("1", 1), order("1", 2), parcel("p", 2), parcel("p", 3), parcel("p", 1), parcel("p", 3)}
	w.gets(messages(bodies...), "Inserted; Duplicate; Conflict: digest-differs; Stale; Inserted; Stale; Duplicate")
	must.Equal(t, w.calls["PutItem"]+w.calls["BatchExecuteStatement"], 2)
	must.Equal(t, len(w.quarantined()), 1)
	// While the one write is unproven, so are all copies, also the conflicting one.
	w = newWorld(t)
	w.refuse("PutItem", &types.ResourceNotFoundException{})
	w.gets(messages(bodies[:3]...), "Retry: refused, back; Retry: refused, back; Retry: refused, back")
}

// After every kind of lost answer, redelivery stores the event once and acknowledges it.
func TestIngestRedelivery(t *testing.T) {
	for _, n := range []int{1, 40} {
		w := newWorld(t)
		bodies := manyOrders(n)
		w.faults = []fault{{API: "PutItem", After: errLost}, {API: "BatchExecuteStatement", After: errLost}}
		for range 3 {
			must.Equal(t, w.receive(messages(bodies...)), failures())
		}
		must.Equal(t, strings.Count(w.verdicts(), "Duplicate"), n)
		must.Equal(t, len(w.items()), n)
	}
}

func TestIngestReports(t *testing.T) {
	w := newWorld(t)
	w.receive(messages(order("1", 1)))
	w.gets(messages(order("1", 1), order("1", 2), "x", order("2", 1), parcel("p", 1), order("old", 1, `"at2":1`)),
		"Duplicate; Conflict: digest-differs; Poison: undecodable; Inserted; Inserted; Inserted")
	must.Equal(t, tally(w.batches[0].Verdicts[:]), "Inserted 3, Duplicate 1, Conflict 1, Poison 1")
	r := w.batches[0]
	must.Equal(t, r.Failed, 0)
	if r.OldestAge != time.Minute || r.Cost.Requests == 0 || r.Cost.WriteUnits != 4 {
		t.Errorf("%+v", r)
	}
	o := w.outcomes[1]
	if o.Existing == nil || o.Existing.Digest == o.Item.Digest {
		t.Errorf("the conflict came as %+v", o)
	}
	must.Equal(t, w.outcomes[2].Item, nil)
	must.Equal(t, w.outcomes[2].Message.MessageId, "m2")
	if text := w.log.String(); strings.Count(text, "msg=quarantined") != 2 || strings.Contains(text, `"cents"`) {
		t.Errorf("one line a quarantined message and no payload, want; got\n%s", text)
	}
}

// Work stops before the deadline. What is not proven comes back, the answer is sent in time, and no
// request starts after it.
func TestIngestDeadline(t *testing.T) {
	for name, c := range map[string]struct{ timeout, margin time.Duration }{
		"default margin":             {30 * time.Second, 0},
		"own margin":                 {30 * time.Second, 10 * time.Second},
		"timeout as short as margin": {3 * time.Second, 0},
		"timeout below margin":       {1500 * time.Millisecond, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.env = real })
				last := w.slow("BatchExecuteStatement")
				w.ingest.Margin = c.margin
				n := 10_000
				if c.timeout < 10*time.Second {
					n /= 4 // too many still
				}
				bodies := manyOrders(n)
				began := time.Now()
				answer := w.within(t, c.timeout, messages(bodies...))
				took := time.Since(began)
				if last().After(began.Add(took)) {
					t.Error("a request started after the answer")
				}
				stored, retried := len(w.items()), len(answer.BatchItemFailures)
				if stored == 0 || retried == 0 || stored+retried != len(bodies) {
					t.Errorf("%d stored and %d returned of %d, after %s", stored, retried, len(bodies), took)
				}
				for _, o := range w.outcomes {
					if o.Verdict == event.Retry && o.Refusal.Reason != event.Unattempted && o.Refusal.Reason != event.Unproven {
						t.Fatalf("%v", o.Refusal)
					}
				}
			})
		})
	}
}

// Writing stops early enough for quarantine, and quarantine stops early enough for the answer. What
// can never be stored is kept, even if the table takes all the time that there is. What is not kept
// by then is in the answer, which is sent in time.
func TestQuarantineHasTime(t *testing.T) {
	for name, slow := range map[string]time.Duration{"a quick queue": 100 * time.Millisecond, "a slow queue": 700 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(s *setup) { s.env = real })
				w.slow("BatchExecuteStatement")
				bodies := make([]string, 0, 10_030)
				for i := range 10_030 {
					if i%334 == 0 {
						bodies = append(bodies, "x")
						continue
					}
					bodies = append(bodies, order(fmt.Sprint(i), 1))
				}
				q := &sending{next: w.ingest.Quarantine, took: slow}
				w.ingest.Quarantine = q
				answer := w.within(t, 30*time.Second, messages(bodies...))
				if q.began < 27*time.Second || q.began > 28*time.Second || q.until != 29*time.Second {
					t.Errorf("quarantine began after %s and had until %s, want the 2 seconds before the last one", q.began, q.until)
				}
				kept := 0
				for _, o := range w.outcomes {
					if o.Verdict == event.Poison && !o.Failed {
						kept++
					}
				}
				if want := 31; (slow < time.Second/2) != (kept == want) {
					t.Errorf("%d of %d kept", kept, want)
				}
				if len(answer.BatchItemFailures) == 0 {
					t.Error("the table was to take all the time")
				}
			})
		})
	}
}

// sending is a quarantine that keeps one letter at a time and is slow about it.
type sending struct {
	next         quarantine.Queue
	took         time.Duration
	began, until time.Duration
}

func (s *sending) Send(ctx context.Context, letters []quarantine.Letter) []error {
	at, _ := ctx.Deadline()
	outer := must.Time("2000-01-01T00:00:00Z") // when a bubble's clock begins
	s.began, s.until = time.Since(outer), at.Sub(outer)
	errs := make([]error, len(letters))
	for i := range letters {
		if i%10 == 0 && ctx.Err() == nil {
			time.Sleep(s.took)
		}
		if errs[i] = ctx.Err(); errs[i] == nil {
			errs[i] = s.next.Send(ctx, letters[i:i+1])[0]
		}
	}
	return errs
}

// A queue is FIFO if its ARN says so.
func TestFIFO(t *testing.T) {
	e := func(queue string) events.SQSEvent {
		return inGroups(messages(order("a1", 1), order("b1", 1), order("a2", 1), order("b2", 1), order("a3", 1), "x", order("a4", 1)),
			queue, "ABABACA")
	}
	t.Run("standard queue with group ids", func(t *testing.T) {
		w := newWorld(t)
		w.faults = []fault{{API: "BatchExecuteStatement", Edit: func(out any) {
			refused := &types.BatchStatementError{Code: types.BatchStatementErrorCodeEnumAccessDenied}
			out.(*dynamodb.BatchExecuteStatementOutput).Responses[2].Error = refused
		}}}
		must.Equal(t, w.receive(e("")), failures("m2"))
	})
	t.Run("a retry stops its group alone", func(t *testing.T) {
		w := newWorld(t)
		w.faults = []fault{refuses("a2")}
		w.gets(e(".fifo"), "Inserted; Inserted; Retry: refused, back; Inserted; Retry: unattempted, back; Poison: undecodable; "+
			"Retry: unattempted, back")
		must.Equal(t, len(w.items()), 3)
	})
	t.Run("poison does not stop its group, unless it stays in the queue", func(t *testing.T) {
		for _, kept := range []bool{true, false} {
			w := newWorld(t)
			e := inGroups(messages(order("a1", 1), "x", order("a2", 1)), "", "A")
			e.Records[0].EventSourceARN += ".fifo"
			want := failures()
			if !kept {
				w.ingest.Quarantine, want = nil, failures("m1", "m2")
			}
			must.Equal(t, w.receive(e), want, kept)
			if !kept {
				continue
			}
			must.Equal(t, w.note().Group, "A")
		}
	})
	t.Run("a hot key stops its group alone, and soon", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, func(s *setup) { s.env = real })
			hot := refuses("a2")
			hot.Before = &types.ProvisionedThroughputExceededException{ThrottlingReasons: []types.ThrottlingReason{{Reason: aws.String(
				"TableWriteKeyRangeThroughputExceeded")}}}
			w.faults = []fault{hot}
			e := e("")
			e.Records[0].EventSourceARN += ".fifo"
			began := time.Now()
			answer := w.within(t, time.Minute, e)
			if took := time.Since(began); took > 6*time.Second {
				t.Errorf("answered after %s", took)
			}
			var back []string
			for _, f := range answer.BatchItemFailures {
				back = append(back, f.ItemIdentifier)
			}
			must.Equal(t, strings.Join(back, " ")+": "+
				w.verdicts(), "m2 m4 m6: Inserted Inserted Retry Inserted Retry Poison Retry")
		})
	})
	t.Run("inside a group in order", func(t *testing.T) {
		w := newWorld(t)
		var seen []string
		w.faults = []fault{{API: "PutItem", Always: true, Applies: func(in any) bool {
			seen = append(seen, rows.TextOf(in.(*dynamodb.PutItemInput).Item["id"]))
			return false
		}}}
		e := inGroups(messages(order("a1", 1), order("b1", 1), order("a2", 1), order("a1", 2), order("b2", 1), order("a3", 1),
			order("a1", 1)), "", "ABAABAA")
		e.Records[0].EventSourceARN += ".fifo"
		w.gets(e, "Inserted; Inserted; Inserted; Conflict: digest-differs; Inserted; Inserted; Duplicate")
		for group, want := range map[string]string{"a": "a1 a2 a1 a3 a1", "b": "b1 b2"} {
			got := slices.DeleteFunc(slices.Clone(seen), func(id string) bool { return id[:1] != group })
			must.Equal(t, strings.Join(got, " "), want, group, got)
		}
	})
}

var _ quarantine.Queue = (*refusing)(nil)

// refusing is a quarantine that takes nothing.
type refusing struct{ letters []quarantine.Letter }

func (r *refusing) Send(_ context.Context, letters []quarantine.Letter) []error {
	r.letters = append(r.letters, letters...)
	errs := make([]error, len(letters))
	for i := range errs {
		errs[i] = errLost
	}
	return errs
}
