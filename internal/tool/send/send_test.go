package send_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/send"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// queue takes batches, except what refuses says of a message's try: the code of SQS's answer.
type queue struct {
	mu      sync.Mutex
	batches [][]string
	groups  []string
	tries   map[string]int
	refuses func(body string, try int) string
	err     func(n int) error // of the n-th request
}

// unfit is the code for a message that is the sender's fault.
const unfit = "InvalidMessageContents"

func (q *queue) SendMessageBatch(_ context.Context, in *sqs.SendMessageBatchInput, _ ...func(*sqs.Options)) (*sqs.SendMessageBatchOutput,
	error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.err != nil {
		if err := q.err(len(q.batches)); err != nil {
			return nil, err
		}
	}
	out := &sqs.SendMessageBatchOutput{}
	var taken []string
	for _, e := range in.Entries {
		if q.refuses != nil {
			if q.tries == nil {
				q.tries = map[string]int{}
			}
			q.tries[*e.MessageBody]++
			if code := q.refuses(*e.MessageBody, q.tries[*e.MessageBody]); code != "" {
				out.Failed = append(out.Failed,
					types.BatchResultErrorEntry{Id: e.Id, Code: &code, Message: aws.String("no"), SenderFault: code == unfit})
				continue
			}
		}
		taken = append(taken, *e.MessageBody)
		q.groups = append(q.groups, aws.ToString(e.MessageGroupId))
	}
	q.batches = append(q.batches, taken)
	return out, nil
}

func (q *queue) all() []string { return slices.Concat(q.batches...) }

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "{\"n\":\"%04d\"}\n", i)
	}
	return b.String()
}

func noSleep(context.Context, time.Duration) error { return nil }

// sendTo sends lines to a queue that never makes it wait.
func sendTo(q *queue, c send.Config, lines string) (int, error) {
	c.Queue, c.Env.Sleep = q, noSleep
	return send.Lines(context.Background(), c, ndjson.Lines(strings.NewReader(lines)))
}

func TestEverythingIsSentInBatches(t *testing.T) {
	q := &queue{}
	var told []int
	n, err := sendTo(q, send.Config{Sent: func(n int) { told = append(told, n) }}, numbered(1234))
	if n != 1234 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	if all := slices.Sorted(slices.Values(q.all())); len(q.batches) != 124 || strings.Join(all, "\n")+"\n" != numbered(1234) {
		t.Errorf("%d batches with %d messages", len(q.batches), len(all))
	}
	if !slices.IsSorted(told) || told[len(told)-1] != 1234 {
		t.Errorf("told %v", told)
	}
}

func TestBatchesAreCutByBytes(t *testing.T) {
	q := &queue{}
	big := `{"a":"` + strings.Repeat("x", 400_000) + `"}` + "\n"
	if n, err := sendTo(q, send.Config{Parallel: 1}, strings.Repeat(big, 5)); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	for _, b := range q.batches {
		if len(b) > 2 {
			t.Errorf("%d messages of 400 KB in a batch", len(b))
		}
	}
	n, err := sendTo(q, send.Config{}, "{}\n"+`{"a":"`+strings.Repeat("x", 1<<20)+`"}`+"\n")
	if line := new(send.LineError); n != 1 || !errors.As(err, &line) || line.Line != 2 ||
		!strings.Contains(err.Error(), "SQS takes at most 1048576") {
		t.Errorf("%d, %v", n, err)
	}
}

// What is sent for certain is the lines before the first one that is not.
func TestFailuresAndWhereToGoOn(t *testing.T) {
	for name, tt := range map[string]struct {
		of    string // a part of the bodies that are refused
		tries int    // how often
		code  string
		sent  int
		says  string
	}{
		"again and again":    {"", 3, "ServiceUnavailable", 35, ""},
		"for ever":           {"0025", 1000, "ServiceUnavailable", 20, "line 26: SQS does not take it: ServiceUnavailable"},
		"the sender's fault": {"0012", 1000, unfit, 10, "line 13: SQS does not take it: InvalidMessageContents: no"},
		"a request":          {"", 0, "", 20, "no such queue"},
	} {
		q := &queue{refuses: func(body string, try int) string {
			if strings.Contains(body, tt.of) && try <= tt.tries {
				return tt.code
			}
			return ""
		}, err: func(n int) error {
			if n == 2 && name == "a request" {
				return errors.New("no such queue")
			}
			return nil
		}}
		n, err := sendTo(q, send.Config{Parallel: 1}, numbered(35))
		if n != tt.sent || (err == nil) != (tt.says == "") || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %d sent, %v; want %d, %s", name, n, err, tt.sent, tt.says)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	q := &queue{err: func(n int) error {
		if n == 3 {
			stop()
		}
		return nil
	}}
	n, err := send.Lines(ctx, send.Config{Queue: q, Parallel: 1}, ndjson.Lines(strings.NewReader(numbered(1000))))
	if !errors.Is(err, context.Canceled) || n < 30 || n > 60 || len(q.all()) < n {
		t.Errorf("%d sent for certain, %d in all: %v", n, len(q.all()), err)
	}
}

func TestRate(t *testing.T) {
	now := time.Unix(0, 0)
	var slept time.Duration
	c := send.Config{Queue: &queue{}, Rate: 50, Parallel: 1, Env: env.Env{Now: func() time.Time { return now },
		Sleep: func(_ context.Context, d time.Duration) error { now = now.Add(d); slept += d; return nil }}}
	_, err := send.Lines(context.Background(), c, ndjson.Lines(strings.NewReader(numbered(500))))
	must.Succeed(t, err)
	if slept < 9700*time.Millisecond || slept > 9900*time.Millisecond {
		t.Errorf("500 events at 50 a second take %s", slept)
	}
}

// The order of a group's lines is kept, also if one of them must be sent again.
func TestGroups(t *testing.T) {
	path, _ := event.ParsePath("who.id")
	var lines strings.Builder
	for i := range 25 {
		fmt.Fprintf(&lines, `{"who":{"id":%d},"n":"%02d"}`+"\n", i%3, i)
	}
	q := &queue{refuses: func(body string, try int) string {
		if strings.Contains(body, `"04"`) && try == 1 {
			return "ServiceUnavailable"
		}
		return ""
	}}
	if n, err := sendTo(q, send.Config{Group: path}, lines.String()); n != 25 || err != nil {
		t.Fatal(n, err)
	}
	// What was sent after a message that failed is sent again after it.
	place := map[string]int{}
	for i, body := range q.all() {
		place[body] = i
	}
	sent := strings.Fields(lines.String())
	if !slices.IsSortedFunc(sent, func(a, b string) int { return place[a] - place[b] }) || len(place) != 25 ||
		slices.Contains(q.groups, "") {
		t.Errorf("%q, groups %v", q.batches, q.groups)
	}
	for _, bad := range []string{`{"who":1}`, `{"who":{"id":[]}}`, `{"who":{"id":""}}`, `no`} {
		if _, err := sendTo(q, send.Config{Group: path}, bad+"\n"); err == nil || !strings.HasPrefix(err.Error(), "line 1: ") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
