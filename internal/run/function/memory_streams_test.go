//go:build !ingotlocal && linux

package function_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/plan/packed"
)

const readings = `ingot: 1
epoch: 1
type: "{type}"
events:
  reading:
    id: "{id}"
    at: "{at}"
    key: {pk: "READING#{id}", sk: "-"}
aggregates:
  most: {since: 1, by: {id: "{id}"}, from: {reading: {values: {most: max value}}}}
  least: {since: 1, by: {id: "{id}"}, from: {reading: {values: {least: min value}}}}
  range: {since: 1, by: {id: "{id}"}, from: {reading: {values: {most: max value, least: min value}}}}
`

// A batch that is counted by receipts meets the largest totals that the table can hold, three of
// them for each change. It must fit the smallest function. A cancelled transaction could bring 75
// of them back at once.
func TestLargeTotalsUnderReceiptsFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory")
	binary, plan := build(t, "streams"), written(t, readings)
	totals := newLargeTotals(t)
	fn := startSmallest(t, binary, totals, variables(plan, "INGOT_COUNTING=receipts"))
	const changes = 100
	for batch := range 2 {
		fn.takes(t, readingsFrom(batch*changes, changes), 0)
	}
	totals.mu.Lock()
	defer totals.mu.Unlock()
	if totals.asked == 0 || totals.read != 2*3*changes || totals.done != 2*3*changes {
		t.Errorf("%d transactions asked for images, %d totals were read, %d updates done", totals.asked, totals.read, totals.done)
	}
	fn.fits(t)
}

// The same holds for a batch that is counted by marks, whatever brings the totals: the reads before
// the statements, the statements that are refused, and the reads after them.
func TestLargeTotalsUnderMarksFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory")
	binary, plan := build(t, "streams"), written(t, readings)
	for name, there := range map[string]bool{"shown before": true, "met alone": false} {
		t.Run(name, func(t *testing.T) {
			totals := newLargeTotals(t)
			totals.looks = there
			fn := startSmallest(t, binary, totals, variables(plan, "INGOT_COUNTING=marks"))
			const changes = 100
			for batch := range 2 {
				body := readingsFrom(batch*changes, changes)
				fn.takes(t, append([]byte(`{"shardId":"shardId-00000004070908800000-0123abcd",`), body[1:]...), 55*time.Second)
			}
			totals.mu.Lock()
			defer totals.mu.Unlock()
			if totals.asked == 0 || len(totals.updated) != 2*3*changes {
				t.Errorf("%d updates asked for images, %d totals are updated", totals.asked, len(totals.updated))
			}
			fn.fits(t)
		})
	}
}

// A batch of the stream with as many compressed payloads as fit, each as large as a payload can be
// and packed as well as it can be, must fit the smallest function: its records unpack to 8 times
// their size.
func TestCompressedBatchFitsSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory")
	const changes = 88
	binary, plan := build(t, "streams"), written(t, readings)
	totals := newLargeTotals(t)
	totals.know(2 * changes)
	fn := startSmallest(t, binary, totals, variables(plan, "INGOT_COUNTING=receipts"))
	blanks := strings.Repeat(" ", 399<<10)
	for batch := range 2 {
		body := recordsOf(batch*changes, changes, func(i int) string {
			return `{"B":"` +
				base64.StdEncoding.EncodeToString(
					packed.Pack(fmt.Sprintf(`{"type":"reading","id":%d,"value":5,"at":"2099-03-01T10:00:00Z"%s}`, i, blanks))) + `"}`
		})
		fills(t, body)
		fn.takes(t, body, 0)
	}
	totals.mu.Lock()
	defer totals.mu.Unlock()
	must.Equal(t, totals.done, 2*3*changes)
	fn.fits(t)
}

// The worst batches of changes that Lambda can send must fit: as many as the event source may be
// told to send at once, and the images that take the most memory to understand.
func TestWorstChangesFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory")
	binary, plan := build(t, "streams"), written(t, readings)
	for name, c := range map[string]struct {
		changes int
		note    string // JSON in each image
	}{
		"the most changes":   {8_900, `\"\"`},
		"a thousand":         {1_000, `\"` + strings.Repeat("0", 5_300) + `\"`},
		"the largest images": {15, nestedNote(395 << 10)},
	} {
		t.Run(name, func(t *testing.T) {
			totals := newLargeTotals(t)
			totals.know(c.changes)
			fn := startSmallest(t, binary, totals, variables(plan, "INGOT_COUNTING=receipts"))
			body := recordsOf(0, c.changes, func(i int) string {
				return fmt.Sprintf(`{"S":"{\"type\":\"reading\",\"id\":%d,\"value\":5,\"at\":\"2099-03-01T10:00:00Z\",\"note\":%s}"}`, i,
					c.note)
			})
			fills(t, body)
			for range 2 {
				fn.takes(t, body, 30*time.Second)
			}
			totals.mu.Lock()
			defer totals.mu.Unlock()
			if totals.done < 3*min(c.changes, 100) {
				t.Errorf("%d updates done", totals.done)
			}
			fn.fits(t)
		})
	}
}

// fills ends the test if a batch is larger than Lambda sends one, or much smaller.
func fills(t *testing.T, body []byte) {
	t.Helper()
	const batchBytes = 6 << 20
	if len(body) > batchBytes || len(body) < batchBytes*9/10 {
		t.Fatalf("a batch has %d bytes, and Lambda sends at most %d", len(body), batchBytes)
	}
}

// readingsFrom returns a batch of new items. Each item moves its own totals.
func readingsFrom(first, n int) []byte {
	return recordsOf(first, n, func(i int) string {
		return fmt.Sprintf(`{"S":"{\"type\":\"reading\",\"id\":%d,\"value\":5,\"at\":\"2099-03-01T10:00:00Z\"}"}`, i)
	})
}

// recordsOf returns a batch of new items with these payloads.
func recordsOf(first, n int, data func(i int) string) []byte {
	var records []string
	for i := first; i < first+n; i++ {
		text := func(s string) string { return `{"S":"` + s + `"}` }
		key := fmt.Sprintf(`{"PK":%s,"SK":%s}`, text(fmt.Sprint("READING#", i)), text("-"))
		stored := fmt.Sprintf(`{"PK":%s,"SK":%s,"type":%s,"id":%s,"at":%s,"digest":{"B":"%s"},"epoch":{"N":"1"},"data":%s}`,
			text(fmt.Sprint("READING#", i)), text("-"), text("reading"),
			text(fmt.Sprint(i)), text("2099-03-01T10:00:00.000000000Z"), strings.Repeat("A", 43)+"=", data(i))
		records = append(records,
			fmt.Sprintf(
				`{"eventID":"e%d","eventName":"INSERT","eventSource":"aws:dynamodb","eventSourceARN":"arn:aws:dynamodb:eu-central-1:123456789012:table/events/stream/2099-01-01T00:00:00.000",`+
					`"dynamodb":{"ApproximateCreationDateTime":4076222400,"Keys":%s,"NewImage":%s,"SequenceNumber":"%021d","StreamViewType":"NEW_AND_OLD_IMAGES"}}`, i, key, stored, i+1))
	}
	return []byte(`{"Records":[` + strings.Join(records, ",") + `]}`)
}

// largeTotals is an aggregates table in which every total exists. Each is as large as an item can
// be, and has a least and a most that no reading moves. A transaction that guesses them wrong is
// cancelled.
type largeTotals struct {
	t                 *testing.T
	filler            string // attributes
	mu                sync.Mutex
	known             map[string]bool // totals that were shown, so the next guess is right
	looks             bool            // a BatchGetItem that is not consistent finds the totals, too
	refused           map[string]int  // how often an update of a total was refused that had no transaction
	updated           map[string]bool // totals that an update without a transaction has changed
	asked, read, done int
}

func newLargeTotals(t *testing.T) *largeTotals {
	var b strings.Builder
	for i := 0; b.Len() < 500<<10; i++ { // the names and values of such an attribute take 40 of its 54 bytes
		fmt.Fprintf(&b, `,"attribute-%020d":{"S":"12345678"}`, i)
	}
	return &largeTotals{t: t, filler: b.String(), known: map[string]bool{}, refused: map[string]int{}, updated: map[string]bool{}}
}

// know makes the totals of the first n readings known, so that no update is refused, and no total
// is in memory.
func (l *largeTotals) know(n int) {
	for i := range n {
		for _, name := range []string{"most", "least", "range"} {
			l.known[fmt.Sprintf("A#%s#1#0#%d", name, i)] = true
		}
	}
}

func (l *largeTotals) item(key image) string {
	return fmt.Sprintf(`{"PK":{"S":%q},"SK":{"S":"-"},"n":{"N":"1"},"fp":{"N":"1"},"most":{"N":"9"},"least":{"N":"1"}%s}`,
		key["PK"]["S"], l.filler)
}

func (l *largeTotals) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
	var in struct {
		Key                                 image
		ReturnValuesOnConditionCheckFailure string
		RequestItems                        map[string]struct {
			Keys           []image
			ConsistentRead bool
		}
		Statements []struct {
			Parameters                          []map[string]any
			ReturnValuesOnConditionCheckFailure string
		}
		TransactItems []struct {
			Update *struct {
				Key                                 image
				ReturnValuesOnConditionCheckFailure string
			}
		}
	}
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
		l.t.Error(err)
	}
	status, body := http.StatusOK, "{}"
	l.mu.Lock()
	switch action {
	case "BatchGetItem":
		body = l.found(in.RequestItems["totals"].Keys, in.RequestItems["totals"].ConsistentRead)
	case "PutItem": // the deployed pipeline.yaml
	case "GetItem":
		if !strings.HasPrefix(in.Key["PK"]["S"], "A#") { // it was never put
			break
		}
		l.read++
		l.known[in.Key["PK"]["S"]] = true
		body = `{"Item":` + l.item(in.Key) + `}`
	case "TransactWriteItems":
		reasons, cancelled, asked, updates := make([]string, len(in.TransactItems)), false, false, 0
		for i, item := range in.TransactItems {
			reasons[i] = `{"Code":"None"}`
			if item.Update == nil {
				continue
			}
			updates++
			if l.known[item.Update.Key["PK"]["S"]] {
				continue
			}
			cancelled, reasons[i] = true, `{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"}`
			if item.Update.ReturnValuesOnConditionCheckFailure == "ALL_OLD" {
				asked = true
				reasons[i] = `{"Code":"ConditionalCheckFailed","Message":"The conditional request failed","Item":` +
					l.item(item.Update.Key) + `}`
			}
		}
		if asked {
			l.asked++
		}
		if cancelled {
			status = http.StatusBadRequest
			body = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"Transaction cancelled","CancellationReasons":[` + strings.Join(reasons, ",") + `]}`
		} else {
			l.done += updates
		}
	case "BatchExecuteStatement":
		answers := make([]string, len(in.Statements))
		for i, s := range in.Statements {
			answers[i] = "{}"
			if refusal := l.update(keyIn(s.Parameters), s.ReturnValuesOnConditionCheckFailure); refusal != "" {
				answers[i] = `{"Error":{"Code":"ConditionalCheckFailed","Message":"The conditional request failed"` + refusal + `}}`
			}
		}
		body = `{"Responses":[` + strings.Join(answers, ",") + `]}`
	case "UpdateItem":
		if refusal := l.update(in.Key, in.ReturnValuesOnConditionCheckFailure); refusal != "" {
			status, body = http.StatusBadRequest,
				`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","Message":"The conditional request failed"`+
					refusal+`}`
		}
	default:
		l.t.Errorf("%s is not served", action)
	}
	l.mu.Unlock()
	answer(w, status, []byte(body))
}

// found returns the answer to a BatchGetItem: the totals that are asked for, up to the 16 MB that
// an answer may have. A read that is not consistent may find a fresh table.
func (l *largeTotals) found(keys []image, consistent bool) string {
	var items, left []string
	for _, key := range keys {
		switch {
		case !l.looks && !consistent || !strings.HasPrefix(key["PK"]["S"], "A#"):
		case len(items) < 16<<20/event.MaxItem:
			items = append(items, l.item(key))
		default:
			left = append(left, fmt.Sprintf(`{"PK":{"S":%q},"SK":{"S":"-"}}`, key["PK"]["S"]))
		}
	}
	unread := ""
	if len(left) > 0 {
		unread = `"totals":{"Keys":[` + strings.Join(left, ",") + `]}`
	}
	return `{"Responses":{"totals":[` + strings.Join(items, ",") + `]},"UnprocessedKeys":{` + unread + `}}`
}

// update carries out the update of one total. The first two are refused, with the total if the
// request asks for it. The refusal is empty if the update is done.
func (l *largeTotals) update(key image, asks string) (refusal string) {
	pk := key["PK"]["S"]
	switch {
	case !strings.HasPrefix(pk, "A#"): // a head
		return ""
	case l.refused[pk] == 2:
		l.updated[pk] = true
		return ""
	}
	l.refused[pk]++
	if asks != "ALL_OLD" {
		return " "
	}
	l.asked++
	return `,"Item":` + l.item(key)
}

// keyIn returns the key among the parameters of a statement.
func keyIn(parameters []map[string]any) image {
	for _, p := range parameters {
		if pk, is := p["S"].(string); is && strings.HasPrefix(pk, "A#") {
			return image{"PK": {"S": pk}}
		}
	}
	return nil
}
