//go:build !ingotlocal && linux

package function_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/runtimeapi"
	"github.com/ingot-events/ingot/internal/sampleshop"
)

// The largest batch that Lambda can send, 10,000 messages in 6 MB, must fit the smallest function that template.yaml
// allows. The limit is told to the process and not enforced here, so the test asks the kernel what it really took.
func TestLargestBatchFitsSmallestFunction(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a binary with the go command, which -short leaves out")
	}
	binary := filepath.Join(t.TempDir(), "ingest")
	if err := runtimeapi.Build(t.Context(), "../../cmd/ingest", binary, ""); err != nil {
		t.Fatal(err)
	}
	shop, err := filepath.Abs("../../" + sampleshop.Pipeline) // whose orders they are, whatever is built in
	if err != nil {
		t.Fatal(err)
	}
	table := httptest.NewServer(http.HandlerFunc(yes))
	t.Cleanup(table.Close)
	const megabytes = 256
	var output bytes.Buffer
	p, err := runtimeapi.Start(t.Context(), runtimeapi.Config{Binary: binary, Memory: megabytes, Stdout: &output, Stderr: &output, Env: map[string]string{
		"INGOT_TABLE": "events", "INGOT_PII_KEY": "k", "INGOT_PIPELINE": shop, "AWS_ENDPOINT_URL": table.URL,
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	batch := largestBatch(t)
	for range 3 { // a warm sandbox meets the next one with the garbage of the last
		answer, err := p.Invoke(t.Context(), batch, 0)
		if err != nil || string(answer) != `{"batchItemFailures":[]}` {
			t.Fatalf("answer %.200s, error %v; it printed %.2000s", answer, err, output.Bytes())
		}
	}
	peak := residentPeak(t, p.PID())
	t.Logf("%d messages, %d bytes: %d MB resident at the peak", messages, len(batch), peak)
	if peak > megabytes*9/10 {
		t.Errorf("%d MB resident at the peak; Lambda ends a process above %d MB", peak, megabytes)
	}
}

const messages = 10_000

// largestBatch comes near Lambda's limit; half of it are the members that SQS adds to each message.
func largestBatch(t *testing.T) []byte {
	t.Helper()
	e := events.SQSEvent{Records: make([]events.SQSMessage, messages)}
	for i := range e.Records {
		e.Records[i] = events.SQSMessage{MessageId: fmt.Sprintf("%08d-b21e-4ac1-bd88-01bbb068cb78", i), EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:q",
			Body: fmt.Sprintf(`{"type":"order.placed","merchant_id":"m","order_id":"%d","customer_id":"c","product_id":"p","quantity":2,"placed_at":"2099-01-02T03:04:05Z","status":"placed","currency":"EUR","total_cents":%d,"note":"%0120d"}`, i, i, i)}
	}
	batch, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if len(batch) > runtimeapi.MaxPayload || len(batch) < 58*runtimeapi.MaxPayload/60 {
		t.Fatalf("a batch of %d bytes", len(batch))
	}
	return batch
}

// yes is a table that takes every statement.
func yes(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	n := strings.Count(string(body), `"Statement":`)
	_, _ = io.WriteString(w, `{"Responses":[`+strings.TrimSuffix(strings.Repeat(`{"TableName":"events"},`, n), ",")+`]}`)
}

// residentPeak is the most memory that the process ever had, in MB, as the kernel counts it.
func residentPeak(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		t.Fatalf("no VmHWM in\n%s", status)
	}
	kilobytes, err := strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes >> 10
}
