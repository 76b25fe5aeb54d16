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

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
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
	described, written := names("(?m)^\\| `([A-Za-z]+)` ", table), names(`\{"([A-Za-z]+)", emf\.`, string(source))
	if len(written) < 5 || !slices.Equal(described, written) {
		t.Errorf("the page describes %v, and the function writes %v", described, written)
	}
}

// The role of the template allows what the function asks for, and little else.
func TestRole(t *testing.T) {
	text := must.Read(t, "../cmd/publish/template.yaml")
	_, role, _ := strings.Cut(string(text), "PublishRole:")
	role, _, _ = strings.Cut(role, "PublishFunction:")
	var actions []string
	action := regexp.MustCompile(`"((?:dynamodb|events|sns|sqs|s3|kms|logs|xray):[A-Z][a-z][A-Za-z]+)"`)
	for _, m := range action.FindAllStringSubmatch(role, -1) {
		if m[1] != "dynamodb:LeadingKeys" { // it is a condition
			actions = append(actions, m[1])
		}
	}
	slices.Sort(actions)
	want := []string{"dynamodb:DescribeStream", "dynamodb:GetItem", "dynamodb:GetRecords", "dynamodb:GetShardIterator",
		"dynamodb:ListStreams", "dynamodb:PutItem", "events:PutEvents", "kms:Decrypt", "kms:GenerateDataKey",
		"logs:CreateLogStream", "logs:PutLogEvents", "s3:GetObject", "s3:ListBucket", "sns:Publish", "sqs:GetQueueUrl", "sqs:SendMessage"}
	must.Match(t, slices.Compact(actions), want)
}
