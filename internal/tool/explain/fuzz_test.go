package explain

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// FuzzMessages reads any file as messages to explain. A batch must be what Lambda's own type reads.
// Everything else must be exactly one message. Each message must be explained with a verdict.
func FuzzMessages(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{
		`{"type":"order.placed"}` + "\r\n", `{"Records":[]}`,
		`{"Records":[{"eventSource":"aws:sqs","messageId":"m","body":"{}","messageAttributes":{"a":{"stringValue":"v"},"b":{"binaryValue":"AA=="}}}]}`,
		`{"Messages":[{"MessageId":"m","ReceiptHandle":"r","Body":"x","MessageAttributes":{"a":{"StringValue":"v","DataType":"String"}}}]}`,
		`{"Records":[{"eventSource":"aws:dynamodb"}]}`, `{"Records":[{"eventSource":"aws:sqs","body":1}]}`, "",
	} {
		f.Add(seed)
	}
	e := explainer(f, aggregate.Marks)
	verdicts := map[string]bool{}
	for _, v := range event.Verdicts {
		verdicts[v.String()] = true
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, batch, err := Messages(text)
		switch {
		case err != nil:
			if len(list) > 0 || !slices.Contains([]error{ErrStream, errRecords, errMessages, errMark, errUTF16, errUTF8}, err) &&
				!strings.HasPrefix(err.Error(), "this is not what ") {
				t.Fatalf("%d messages and %v", len(list), err)
			}
			return
		case !batch && (len(list) != 1 || strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r") != list[0].Body || list[0].ID != ""):
			t.Fatalf("%q is taken for %+v", text, list)
		case strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r") == "":
			if !batch || len(list) > 0 {
				t.Fatalf("nothing is taken for %+v", list)
			}
		case batch:
			checkBatch(t, text, list)
		}
		report := e.Explain(list)
		if len(report.Messages) != len(list) {
			t.Fatalf("%d messages, %d explained", len(list), len(report.Messages))
		}
		for i, x := range report.Messages {
			if x.MessageID != list[i].ID || !verdicts[x.Verdict] {
				t.Errorf("message %q: %+v", list[i].ID, x)
			}
		}
		var out strings.Builder
		if err := show.JSON(&out, report); err != nil || !json.Valid([]byte(out.String())) {
			t.Errorf("as JSON: %v %s", err, out.String())
		}
		if report.WriteText(&out); strings.ContainsAny(out.String(), "\x1b\x00") {
			t.Errorf("as text: %q", out.String())
		}
	})
}

// checkBatch compares the list with what Lambda's type reads, or with a plain reading of what SQS
// returns.
func checkBatch(t *testing.T, text string, list []Message) {
	t.Helper()
	var want []Message
	var lambda events.SQSEvent
	var received struct {
		Messages []struct {
			ID   string `json:"MessageId"`
			Body string
		}
	}
	root, err := event.ParseDocument(text)
	must.Succeed(t, err)
	if isQueueBatch(root.Root().Member("Records")) {
		if json.Unmarshal([]byte(text), &lambda) != nil {
			return // an unusual member that explain does not read
		}
		for _, r := range lambda.Records {
			m := Message{ID: r.MessageId}
			m.Body, m.Attributes = r.Body, map[string]string{}
			for name, a := range r.MessageAttributes {
				if a.StringValue != nil {
					m.Attributes[name] = *a.StringValue
				}
			}
			want = append(want, m)
		}
	} else if json.Unmarshal([]byte(text), &received) == nil {
		for i, r := range received.Messages {
			m := Message{ID: r.ID}
			m.Body, m.Attributes = r.Body, list[min(i, len(list)-1)].Attributes
			want = append(want, m)
		}
	}
	if len(want) != len(list) || len(list) > 0 && !reflect.DeepEqual(want, list) {
		t.Errorf("%s is read as %+v, want %+v", text, list, want)
	}
}
