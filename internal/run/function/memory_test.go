//go:build !ingotlocal && linux

package function_test

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/payloads"
)

// This is the smallest function that template.yaml allows, in MB. Lambda ends a process that takes
// more.
const smallest = 256

// largest is how many bytes a deployed function may have. A larger one takes longer to start.
const largest = 15 << 20

const quarantineURL = "https://sqs.eu-central-1.amazonaws.com/000000000000/quarantine"

// quarantineAndSecret and everything are what a function is told besides, as variables takes it.
var (
	quarantineAndSecret = []string{"INGOT_QUARANTINE_URL=" + quarantineURL, "INGOT_PII_KEY=a secret of sixteen bytes"}
	everything          = append([]string{"INGOT_PAYLOAD_BUCKET=payloads", "INGOT_POINTER_BUCKETS=large-payloads"}, quarantineAndSecret...)
)

// variables returns the environment of a function with this pipeline. More of it is "NAME=value".
func variables(pipeline string, more ...string) map[string]string {
	env := map[string]string{"INGOT_TABLE": "events", "INGOT_AGGREGATES_TABLE": "totals", "INGOT_PIPELINE": pipeline}
	for _, one := range more {
		name, value, _ := strings.Cut(one, "=")
		env[name] = value
	}
	return env
}

// written writes a pipeline into a file.
func written(t *testing.T, pipeline string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "pipeline.yaml")
	must.Write(t, file, pipeline)
	return file
}

// build builds a function as it is deployed.
func build(t *testing.T, name string) (binary string) {
	t.Helper()
	binary = filepath.Join(t.TempDir(), name)
	must.Succeed(t, runtimeapi.Build(t.Context(), "../../../cmd/"+name, binary, ""))
	if info, err := os.Stat(binary); err != nil || info.Size() > largest {
		t.Fatalf("%s has more than %d MB: what did it begin to import? %v", name, largest>>20, err)
	}
	return binary
}

// startSmallest runs a built function as the smallest that is allowed. The services stand in for
// AWS.
func startSmallest(t *testing.T, binary string, services http.Handler, env map[string]string) *sandbox {
	t.Helper()
	aws := httptest.NewServer(services)
	t.Cleanup(aws.Close)
	env["AWS_ENDPOINT_URL"] = aws.URL
	return startAs(t, runtimeapi.Config{Binary: binary, Memory: smallest, Timeout: time.Minute, Env: env})
}

// takes sends a batch to the function. Without a timeout, no message may come back.
func (s *sandbox) takes(t *testing.T, batch []byte, timeout time.Duration) {
	t.Helper()
	answer, err := s.Invoke(t.Context(), batch, timeout)
	if err != nil || !strings.HasPrefix(string(answer), `{"batchItemFailures":[`) || timeout == 0 &&
		string(answer) != `{"batchItemFailures":[]}` {
		s.Close()
		t.Fatalf("answer %.200s, error %v; it printed %.2000s", answer, err, s.output.Bytes())
	}
}

// bears sends a batch several times, as a warm sandbox meets the next one with the garbage of the
// last. Then all of it has to fit.
func (s *sandbox) bears(t *testing.T, times int, batch []byte, timeout time.Duration) {
	t.Helper()
	for range times {
		s.takes(t, batch, timeout)
	}
	s.fits(t)
}

// fits checks how much memory the function has taken. The process is told the limit, but nothing
// enforces it here. So this asks the kernel.
func (s *sandbox) fits(t *testing.T) {
	t.Helper()
	peak := residentPeak(t, s.PID())
	t.Logf("%d MB resident at the peak", peak)
	if peak > smallest*9/10 {
		t.Errorf("%d MB resident at the peak; Lambda ends a process above %d MB", peak, smallest)
	}
}

// The worst batches that Lambda can send must fit the smallest function: the largest batch, and
// those whose messages meet the largest items that the table can hold.
func TestWorstBatchesFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory many times")
	binary := build(t, "ingest")
	shop, err := filepath.Abs("../../../" + sampleshop.Pipeline) // the pipeline of these orders, whatever is built in
	must.Succeed(t, err)
	plain, nested, escaped := strings.Repeat("x", 100), nestedNote(380<<10), escapedNote(380<<10)
	for name, c := range map[string]struct {
		stored  []string // notes of the orders that hold every key; nil: all keys are free
		batch   []byte
		timeout time.Duration // it may not be enough for all of them; 0: it is enough
	}{
		"the most messages":                          {nil, orders(t, 10_000, quoted(120)), 0},
		"the most messages, all there with others":   {[]string{plain}, orders(t, 10_000, quoted(120)), 0},
		"a thousand small ones, all there and large": {[]string{nested, escaped}, orders(t, 1_000, quoted(10)), 6 * time.Second},
		"the most messages, all there and large":     {[]string{nested, escaped}, orders(t, 10_000, quoted(120)), 6 * time.Second},
		"large and new":                              {nil, orders(t, 15, nested), 0},
		"large ones, all there and large":            {[]string{escaped, nested}, orders(t, 15, nested), 6 * time.Second},
		"larger than an item can be":                 {nil, orders(t, 5, nestedNote(1<<20-2<<10)), 0},
	} {
		t.Run(name, func(t *testing.T) {
			fn := startSmallest(t, binary, &fullTable{t: t, notes: c.stored}, variables(shop, quarantineAndSecret...))
			fn.bears(t, 3, c.batch, c.timeout)
		})
	}
}

// Parts can take far more memory than the message that yields them: there may be a thousand of a
// few bytes each, and each may repeat a large member of the whole. The worst batches of them must
// fit, too.
func TestWorstPartsFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory many times")
	binary := build(t, "ingest")
	for name, c := range map[string]struct {
		lines  int    // of each whole
		memo   int    // bytes of the member that every part repeats
		atomic string // of the whole
		queue  string // "" for a standard queue
	}{
		"the most parts":           {1000, 1, "", ""},
		"the largest parts":        {1000, 3 << 10, "", ""},
		"the most in transactions": {99, 1, "atomic: true", ""},
		"the largest transactions": {99, 35 << 10, "atomic: true", ""},
		// Groups run at the same time.
		"the largest parts of ten groups":        {1000, 3 << 10, "", ".fifo"},
		"the largest transactions of ten groups": {99, 35 << 10, "atomic: true", ".fifo"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := written(t, fmt.Sprintf(withLines, c.atomic))
			batch := wholes(t, c.lines, c.memo, c.queue)
			fn := startSmallest(t, binary, &fullTable{t: t}, variables(plan))
			fn.bears(t, 2, batch, 6*time.Second) // it is not enough for all of them
		})
	}
}

// An array of a thousand small events is a small message, so a batch may hold a hundred thousand
// events. The worst batches of them must fit, too.
func TestWorstArraysFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory many times")
	binary := build(t, "ingest")
	plan := written(t, strings.Replace(fmt.Sprintf(withLines, ""), "epoch: 1", "epoch: 1\nbatches: true", 1))
	const at = `"at":"2099-01-02T03:04:05Z","memo":`
	for name, event := range map[string]func(i int) string{
		"the most events":  func(i int) string { return fmt.Sprintf(`{"type":"order","o":%d,%s1,"lines":[]}`, i, at) },
		"the most refused": func(int) string { return "1" },
		"the most parts":   func(i int) string { return fmt.Sprintf(`{"type":"order","o":%d,%s1,"lines":[{"n":1}]}`, i, at) },
		"the largest parts": func(i int) string {
			return fmt.Sprintf(`{"type":"order","o":%d,%s%s,"lines":[{"n":1},{"n":2},{"n":3},{"n":4}]}`, i, at, quoted(1000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			batch := arraysOf(t, event)
			fn := startSmallest(t, binary, &fullTable{t: t}, variables(plan))
			fn.bears(t, 2, batch, 20*time.Second)
		})
	}
}

// message returns a message of a queue. On a FIFO queue, it has a group of its own.
func message(i int, queue, body string) events.SQSMessage {
	m := events.SQSMessage{MessageId: fmt.Sprintf("%08d-b21e-4ac1-bd88-01bbb068cb78", i), Body: body,
		EventSourceARN: "arn:aws:sqs:eu-central-1:123456789012:q" + queue}
	if queue != "" {
		m.Attributes = map[string]string{"MessageGroupId": strconv.Itoa(i)}
	}
	return m
}

// sized returns the bytes of a batch, of which Lambda sends no more, and which are at least so
// many.
func sized(t *testing.T, e events.SQSEvent, least int) []byte {
	t.Helper()
	batch, err := json.Marshal(e)
	if err != nil || len(batch) > runtimeapi.MaxPayload || len(batch) < least {
		t.Fatalf("a batch of %d bytes: %v", len(batch), err)
	}
	return batch
}

// arraysOf returns a batch of as many arrays of 1,000 events as Lambda sends.
func arraysOf(t *testing.T, one func(i int) string) []byte {
	t.Helper()
	var e events.SQSEvent
	for size, i := 0, 0; len(e.Records) < 10_000; {
		var list []string
		for range 1000 {
			list = append(list, one(i))
			i++
		}
		body := "[" + strings.Join(list, ",") + "]"
		text, err := json.Marshal(body)
		must.Succeed(t, err)
		if size += len(text) + 400; size > runtimeapi.MaxPayload {
			break
		}
		e.Records = append(e.Records, message(len(e.Records), "", body))
	}
	return sized(t, e, runtimeapi.MaxPayload*6/10)
}

// An object in S3 may have sixteen times what a message has, and a batch may point to thousands of
// them. The worst batches of pointers must fit, too.
func TestWorstPointersFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory many times")
	binary := build(t, "ingest")
	shop, err := filepath.Abs("../../../" + sampleshop.Pipeline)
	must.Succeed(t, err)
	enveloped := func(i int, note string) string {
		return fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"s","type":"order.placed","data":%s}`, i, order(i, note))
	}
	// As many values as a text may have, in 16 MiB. They are parsed twice: with the envelope, and
	// alone.
	most := enveloped(1, "["+strings.Repeat("[],", 1<<21-100)+strings.Repeat(" ", payloads.Max-3<<21-1000)+"0]")
	soon := func(text string) string { // a payload that is offloaded may be 30 days ahead
		return strings.Replace(text, "2099-01-02T03:04:05Z", time.Now().UTC().Format(time.RFC3339), 1)
	}
	offloading := offloadingShop(t)
	for name, c := range map[string]struct {
		object   func(i int) string
		pointers int
	}{
		"offloaded, the largest": {func(i int) string { return soon(order(i, escapedNote(payloads.Max-2000))) }, 20},
		"offloaded, many":        {func(i int) string { return soon(order(i, escapedNote(390<<10))) }, 400},
		"offloaded, values":      {func(int) string { return soon(most) }, 20},
		"the most values":        {func(int) string { return most }, 20},
		"too many values":        {func(int) string { return "[" + strings.Repeat("[],", payloads.Max/3-10) + "0]" }, 20},
		"the largest text":       {func(i int) string { return enveloped(i, escapedNote(payloads.Max-2000)) }, 20},
		"the largest items":      {func(i int) string { return order(i, escapedNote(390<<10)) }, 400},
		"the largest envelopes": {func(i int) string {
			return fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"s","type":"order.placed","x":%s,"data":%s}`, i, escapedNote(8<<20),
				order(i, escapedNote(380<<10)))
		}, 20},
		"the most pointers": {func(i int) string { return order(i, quoted(10)) }, 10_000},
	} {
		t.Run(name, func(t *testing.T) {
			file := shop
			if strings.HasPrefix(name, "offloaded") {
				file = offloading
			}
			table := &fullTable{t: t, object: c.object}
			fn := startSmallest(t, binary, table, variables(file, everything...))
			batch := pointers(t, c.pointers, "")
			fn.bears(t, 2, batch, 6*time.Second) // it is not enough for all of them
			if offloaded := file == offloading; offloaded != (table.uploads.Load() > 0) {
				t.Errorf("%d payloads are put into the bucket", table.uploads.Load())
			}
		})
	}
}

// A conflict with an event whose payload is in the payload bucket reads that payload, of up to 16
// MiB, and compares the two. The worst batches of such conflicts must fit, too.
func TestWorstStoredPayloadsFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory many times")
	binary, plan := build(t, "ingest"), offloadingShop(t)
	soon := time.Now().UTC().Format(time.RFC3339)
	whole := func(i int, note string) string {
		return strings.Replace(order(i, note), "2099-01-02T03:04:05Z", soon, 1)
	}
	large := bytes.ReplaceAll(orders(t, 15, nestedNote(380<<10)), []byte("2099-01-02T03:04:05Z"), []byte(soon))
	fill := payloads.Max - 2000
	largest := escapedNote(fill)
	values := "[" + strings.Repeat("[],", 1<<21-100) + strings.Repeat(" ", fill-3*(1<<21-100)-2) + "0]"
	numbers := "[" + strings.Repeat("1,", 1<<21-100) + strings.Repeat(" ", fill-2*(1<<21-100)-2) + "0]"
	for name, c := range map[string]struct {
		stored string // the note in the payload of every stored event
		note   string // of the messages, which are pointers; empty: the messages are the batch
		batch  []byte
		queue  string
	}{
		"many small ones meet the largest":      {largest, "", orders(t, 1_000, quoted(10)), ""},
		"many small ones meet the most values":  {values, "", orders(t, 1_000, quoted(10)), ""},
		"large ones meet the largest":           {largest, "", large, ""},
		"the largest meet the largest":          {largest, largest, nil, ""},
		"the most values meet the most values":  {values, values, nil, ""},
		"the most numbers meet the most values": {values, numbers, nil, ""},
		"ten groups meet the largest":           {largest, largest, nil, ".fifo"},
		"ten groups meet the most values":       {values, values, nil, ".fifo"},
	} {
		t.Run(name, func(t *testing.T) {
			stored := whole(-1, c.stored)
			sum := sha256.Sum256([]byte(stored))
			table := &fullTable{t: t, notes: []string{quoted(10)}, payload: stored, sum: sum[:],
				object: func(i int) string { return whole(i, c.note) }}
			fn := startSmallest(t, binary, table, variables(plan, everything...))
			batch := c.batch
			if c.note != "" {
				batch = pointers(t, 10, c.queue)
			}
			fn.bears(t, 2, batch, 6*time.Second) // it is not enough for all of them
			if table.judged.Load() < 2 || table.letters.Load() == 0 {
				t.Errorf("%d stored payloads were read, %d letters sent", table.judged.Load(), table.letters.Load())
			}
		})
	}
}

// offloadingShop returns the file of the sample shop's pipeline, in which the payloads of orders go
// to the payload bucket.
func offloadingShop(t *testing.T) (file string) {
	t.Helper()
	text := must.Read(t, "../../../"+sampleshop.Pipeline)
	file = filepath.Join(t.TempDir(), "offloading.yaml")
	must.Write(t, file, strings.Replace(string(text), "\n  order.placed:\n", "\n  order.placed:\n    offload: {over: 1KB}\n", 1))
	return file
}

// pointers returns a batch of messages that point to objects. On a FIFO queue, each has a group of
// its own.
func pointers(t *testing.T, n int, queue string) []byte {
	t.Helper()
	var e events.SQSEvent
	for i := range n {
		e.Records = append(e.Records, message(i, queue,
			fmt.Sprintf(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large-payloads","s3Key":"%d"}]`, i)))
	}
	return sized(t, e, 0)
}

const withLines = `
ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{o}"
    at: "{at}"
    key: {pk: "O#{o}", sk: "O"}
    %s
  line:
    part: {of: order, each: lines, with: [o, memo]}
    id: "{o}#{n}"
    key: {pk: "O#{o}", sk: "L#{n}"}
`

// wholes returns a batch of as many orders with lines as Lambda sends. From a FIFO queue these are
// ten, here each of a group of its own and as large as ten can be.
func wholes(t *testing.T, lines, memo int, queue string) []byte {
	t.Helper()
	most, filler := 10_000, ""
	if queue == ".fifo" {
		most, filler = 10, strings.Repeat("x", runtimeapi.MaxPayload/10-memo-14*lines-1000)
	}
	var e events.SQSEvent
	for size := 0; ; {
		var list []string
		for n := range lines {
			list = append(list, fmt.Sprintf(`{"n":%d}`, n))
		}
		body := fmt.Sprintf(`{"type":"order","o":%d,"at":"2099-01-02T03:04:05Z","memo":%s,"lines":[%s],"x":"%s"}`, len(e.Records),
			quoted(memo), strings.Join(list, ","), filler)
		text, err := json.Marshal(body)
		must.Succeed(t, err)
		if size += len(text) + 400; size > runtimeapi.MaxPayload || len(e.Records) == most {
			break
		}
		e.Records = append(e.Records, message(len(e.Records), queue, body))
	}
	return sized(t, e, runtimeapi.MaxPayload*8/10)
}

// orders returns a batch of orders, each with a note of JSON.
func orders(t *testing.T, n int, note string) []byte {
	t.Helper()
	e := events.SQSEvent{Records: make([]events.SQSMessage, n)}
	for i := range e.Records {
		e.Records[i] = message(i, "", order(i, note))
	}
	least := 49 * runtimeapi.MaxPayload / 60
	if n == 1_000 {
		least = 0
	}
	return sized(t, e, least)
}

func order(i int, note string) string {
	return fmt.Sprintf(
		`{"type":"order.placed","merchant_id":"m","order_id":"%d","customer_id":"c","product_id":"p","quantity":2,"placed_at":"2099-01-02T03:04:05Z","status":"placed","currency":"EUR","total_cents":%d,"note":%s}`, i, i, note)
}

func quoted(n int) string { return `"` + strings.Repeat("0", n) + `"` }

// nestedNote is the JSON that takes the most memory to understand, for its bytes. escapedNote is
// the JSON that takes the most memory to carry, for its bytes.
func nestedNote(n int) string  { return "[" + strings.Repeat("[],", n/3) + "0]" }
func escapedNote(n int) string { return `"` + strings.Repeat(`\\`, n/2) + `"` }

// image is an item as JSON has it: the attributes by name, and the value of each by its type.
type image = map[string]map[string]string

// answer answers as DynamoDB does.
func answer(w http.ResponseWriter, status int, body []byte) {
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE(body)))
	w.Header().Set("Content-Length", fmt.Sprint(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// object answers as S3 does.
func object(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Length", strconv.Itoa(len(text)))
	_, _ = io.WriteString(w, text) // a function that has stopped reads no more
}

// fullTable is a table in which every key is taken by another order than the one that comes. If it
// has no notes, it is an empty table. It also takes every letter to quarantine.
//
// It is also a bucket with an object of each number.
//
// If there is a payload, every item that is stored has it, in the payload bucket.
type fullTable struct {
	t       *testing.T
	notes   []string
	object  func(i int) string
	payload string
	sum     []byte // of the payload
	uploads atomic.Int64
	judged  atomic.Int64 // stored payloads that are read
	letters atomic.Int64
}

func (f *fullTable) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPut { // a payload that is offloaded
		f.uploads.Add(1)
		_, _ = io.Copy(io.Discard, r.Body)
		return
	}
	if r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/payloads/") {
		f.judged.Add(1)
		object(w, f.payload)
		return
	}
	if r.Method == http.MethodGet {
		i, err := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/large-payloads/"))
		if err != nil {
			f.t.Errorf("%s is not served", r.URL)
		}
		object(w, f.object(i))
		return
	}
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var in struct {
		TableName    string
		Item         image
		Statements   []struct{ ReturnValuesOnConditionCheckFailure string }
		Entries      []struct{ Id, MessageBody string }
		RequestItems map[string]struct {
			Keys                     []image
			ProjectionExpression     string
			ExpressionAttributeNames map[string]string
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); errors.Is(err, io.ErrUnexpectedEOF) {
		return // the function's time is over, and it has given up this request
	} else if err != nil {
		f.t.Error(err)
	}
	status, out := http.StatusOK, map[string]any{}
	switch action {
	case "BatchExecuteStatement":
		answers := make([]map[string]any, len(in.Statements))
		for i, s := range in.Statements {
			if answers[i] = map[string]any{"TableName": "events"}; f.notes != nil {
				refusal := map[string]any{"Code": "DuplicateItem", "Message": "Duplicate primary key exists in table"}
				if s.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
					refusal["Item"] = f.item(image{"PK": {"S": "x"}, "SK": {"S": "x"}}, i)
				}
				answers[i]["Error"] = refusal
			}
		}
		out["Responses"] = answers
	case "BatchGetItem":
		asked := in.RequestItems["events"]
		var items []map[string]any
		size := 0
		for i, key := range asked.Keys {
			item := f.item(key, i)
			if size += len(f.notes[i%len(f.notes)]); size > 16<<20 {
				rest := map[string]any{"Keys": asked.Keys[i:], "ProjectionExpression": asked.ProjectionExpression,
					"ExpressionAttributeNames": asked.ExpressionAttributeNames, "ConsistentRead": true}
				out["UnprocessedKeys"] = map[string]any{"events": rest}
				break
			}
			for name := range item {
				alias := "PK"
				for short, long := range asked.ExpressionAttributeNames {
					if long == name {
						alias = short
					}
				}
				if name != "PK" && name != "SK" && !slices.Contains(strings.Split(asked.ProjectionExpression, ", "), alias) ||
					alias == "PK" && name != "PK" && name != "SK" {
					delete(item, name)
				}
			}
			items = append(items, item)
		}
		out["Responses"] = map[string]any{"events": items}
	case "SendMessageBatch":
		var sent []map[string]any
		for _, e := range in.Entries {
			f.letters.Add(1)
			sent = append(sent,
				map[string]any{"Id": e.Id, "MessageId": "m", "MD5OfMessageBody": fmt.Sprintf("%x", md5.Sum([]byte(e.MessageBody)))})
		}
		out["Successful"] = sent
	case "TransactWriteItems": // all of them are put
	case "PutItem":
		if f.notes == nil || in.TableName != "events" || in.Item["PK"]["S"] == lanes.HomeKey.PK {
			break
		}
		status, out = http.StatusBadRequest, map[string]any{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
			"Message": "The conditional request failed",
			"Item":    f.item(image{"PK": in.Item["PK"], "SK": in.Item["SK"]}, 0)}
	case "GetItem": // the check value of the secret: it was never put
	default:
		f.t.Errorf("%s is not served", action)
	}
	body, err := json.Marshal(out)
	if err != nil {
		f.t.Error(err)
	}
	answer(w, status, body)
}

// item returns the stored order.
func (f *fullTable) item(key image, i int) map[string]any {
	text := func(s string) map[string]string { return map[string]string{"S": s} }
	number := func(s string) map[string]string { return map[string]string{"N": s} }
	item := map[string]any{"PK": key["PK"], "SK": key["SK"], "type": text("order.placed"), "id": text("1"), "epoch": number("1"),
		"digest": map[string][]byte{"B": make([]byte, 32)}, "expiresAt": number("4102444800"),
		"data": text(order(-1, f.notes[i%len(f.notes)]))}
	if f.payload != "" {
		item[itemform.Payload] = map[string][]byte{"B": f.sum}
	}
	return item
}

// residentPeak returns the most memory that the process ever had, in MB, as the kernel counts it.
func residentPeak(t *testing.T, pid int) int {
	t.Helper()
	status := must.Read(t, fmt.Sprintf("/proc/%d/status", pid))
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		t.Fatalf("no VmHWM in\n%s", status)
	}
	kilobytes, err := strconv.Atoi(fields[0])
	must.Succeed(t, err)
	return kilobytes >> 10
}
