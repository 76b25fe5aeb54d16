package publish_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/publish"
)

func files(t *testing.T) fs.FS {
	t.Helper()
	own, err := fs.Sub(examples.Files, "publish")
	must.Succeed(t, err)
	return own
}

// environment sets what the template sets.
func environment(t *testing.T, url string) {
	t.Helper()
	for name, value := range map[string]string{"INGOT_TABLE": "events", "INGOT_AGGREGATES_TABLE": "totals", "INGOT_ENDPOINT_URL": url,
		"INGOT_QUARANTINE_URL": url + "/1/quarantine", "PUBLISH_TO": "arn:aws:events:eu-west-1:000000000000:event-bus/orders",
		"INGOT_PUBLISH_PATIENCE": "2h", "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"} {
		t.Setenv(name, value)
	}
}

// The function as it is deployed sends to a target in its own Region, once, and writes its metrics.
func TestFunction(t *testing.T) {
	var calls []string
	var body bytes.Buffer
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, region, _ := strings.Cut(r.Header.Get("Authorization"), "/20")
		calls = append(calls, r.Header.Get("X-Amz-Target")+" "+strings.Split(region, "/")[1])
		switch {
		case strings.HasSuffix(r.Header.Get("X-Amz-Target"), "GetItem"):
			const answer = `{"Item":{"region":{"S":"us-east-1"}}}`
			w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(answer)))) // the SDK checks it
			_, _ = io.WriteString(w, answer)
		default:
			_, _ = body.ReadFrom(r.Body)
			_, _ = w.Write([]byte(`{"Entries":[{"EventId":"1"}]}`))
		}
	}))
	defer server.Close()
	environment(t, server.URL)
	handle, err := publish.Function(t.Context(), files(t), func(o *publish.Options) { o.Log = slog.New(slog.DiscardHandler) })
	must.Succeed(t, err)
	batch := `{"Records":[{"eventSourceARN":"arn:aws:dynamodb:us-east-1:1:table/events/stream/1","eventName":"INSERT","dynamodb":{` +
		`"SequenceNumber":"100000000000000000000001","ApproximateCreationDateTime":1924000000,` +
		`"Keys":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"}},` +
		`"NewImage":{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"},"type":{"S":"order.placed"},` +
		`"id":{"S":"1"},"at":{"S":"2031-05-05T06:00:00Z"},` +
		`"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"epoch":{"N":"1"},"data":{"S":"{\"order_id\":\"1\"}"}}}}]}`
	response, err := handle(t.Context(), json.RawMessage(batch))
	if err != nil || len(response.BatchItemFailures) != 0 {
		t.Fatalf("%+v, %v", response, err)
	}
	if !slices.Equal(calls, []string{"DynamoDB_20120810.GetItem us-east-1", "AWSEvents.PutEvents eu-west-1"}) ||
		!strings.Contains(body.String(), `\"type\":\"order.placed\"`) {
		t.Errorf("%q, %s", calls, &body)
	}
}

// A function that cannot work does not start, and says what to set.
func TestFunctionThatCannotStart(t *testing.T) {
	for name, c := range map[string]struct{ set, to, says string }{
		"no target":   {"PUBLISH_TO", "", "sends orders to PUBLISH_TO"},
		"no table":    {"INGOT_TABLE", "", "INGOT_TABLE is not set"},
		"no patience": {"INGOT_PUBLISH_PATIENCE", "-1h", "which is not a time such as 12h"},
		"too patient": {"INGOT_PUBLISH_PATIENCE", "23h1m", "at most 23h"},
		"no file":     {"INGOT_PIPELINE", "absent.yaml", "INGOT_PIPELINE names absent.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			environment(t, "http://127.0.0.1:1")
			t.Setenv(c.set, c.to)
			_, err := publish.Function(context.Background(), files(t), func(o *publish.Options) { o.Log = slog.New(slog.DiscardHandler) })
			must.Fail(t, err, c.says)
		})
	}
}

// The page has each metric, and no other.
func TestMetricsAreDescribed(t *testing.T) {
	page := must.Read(t, "../docs/publishing.md")
	source := must.Read(t, "function.go")
	_, table, _ := strings.Cut(string(page), "<!-- publish metrics -->")
	table, _, _ = strings.Cut(table, "\n\n**")
	names := func(pattern, text string) (list []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			list = append(list, m[1])
		}
		return list
	}
	described, written := names("(?m)^\\| `([A-Za-z]+)` ", table), names(`\{Name: "([A-Za-z]+)", Unit: emf\.`, string(source))
	if len(written) < 5 || !slices.Equal(described, written) {
		t.Errorf("the page describes %v, and the function writes %v", described, written)
	}
}

// The role of the template allows what the function asks for, and nothing more. Lambda reads the
// stream and logs in its name. A bus and a topic are not on this machine.
func TestRole(t *testing.T) {
	w := newWorld(t)
	_, err := stack.Queue{Name: "next"}.Create(t.Context(), w.Engine.SQS())
	must.Succeed(t, err)
	w.publishes(strings.Replace(publishing, "next.fifo", "next", 1))
	dropped := 0
	for _, region := range []string{"us-east-1", ""} { // the first makes its Region the home
		c := w.StoreConfig(w.store.Config().Pipeline)
		c.Region = region
		w.publisher, err = publish.New(w.plan, c, func(arn string) publish.Target { return publish.Queue(w.Engine.SQS(), arn) })
		must.Succeed(t, err)
		w.publisher.Quarantine = w.Letters()
		w.publisher.OnBatch = func(_ context.Context, done publish.Published) { dropped += done.Dropped }
		w.put(report("a"+region, strings.Repeat("x", 2000)), report("b"+region, strings.Repeat("x", 2000)))
		_, err = (&payloads.Bucket{Client: w.Engine.S3(), Name: stack.Payloads}).Clear(t.Context(), w.Env, "report",
			event.Key{PK: "REPORT#b" + region, SK: "REPORT"})
		must.Succeed(t, err)
		w.poll()
		must.Equal(t, len(w.response.BatchItemFailures), 0)
	}
	_, err = w.handle(t.Context(), []byte(records(strings.Replace(good, "2031-05-05T06:00:00.000000000Z", "no time", 1))))
	must.Succeed(t, err)
	must.Equal(t, dropped, 2)
	unused := w.role.Rights()
	for _, right := range w.role.Used() {
		unused = slices.DeleteFunc(unused, func(r iam.Right) bool { return r == right })
	}
	unused = slices.DeleteFunc(unused, func(r iam.Right) bool {
		return strings.HasPrefix(r.Action, "logs:") || r.Action == "dynamodb:ListStreams" || strings.HasSuffix(r.On, "/stream/*")
	})
	must.Match(t, unused, []iam.Right{{Action: "events:PutEvents", On: "sqs:next"}, {Action: "sns:Publish", On: "sqs:next"}})
}
