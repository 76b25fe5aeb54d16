//go:build !ingotlocal && linux

package function_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/slow"
)

const letters = `ingot: 1
epoch: 1
type: "{type}"
events:
  letter:
    id: "{id}"
    at: "{at}"
    key: {pk: "LETTER#{id}", sk: "-"}
    retain: 90d
    offload: {over: 1KB}
  reading:
    id: "{id}"
    at: "{at}"
    key: {pk: "READING#{id}", sk: "-"}
aggregates:
  most: {since: 1, from: {reading: {values: {readings: count}}}}
`

// buckets serves payloads of one text, and takes what is archived.
type buckets struct {
	tables   http.Handler
	payload  string
	archived atomic.Int64 // bytes
}

func (b *buckets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasPrefix(r.URL.Path, "/letters/"):
		object(w, b.payload)
	case strings.HasPrefix(r.URL.Path, "/archive/"):
		n, _ := io.Copy(io.Discard, r.Body)
		b.archived.Add(n)
	default:
		b.tables.ServeHTTP(w, r)
	}
}

// A batch of expired items whose payloads are as large as the payload bucket holds them must fit
// the smallest function. As text inside of JSON, such a payload takes twice its size.
func TestArchivedPayloadsFitSmallestFunction(t *testing.T) {
	slow.Test(t, "it fills the smallest function's memory")
	binary, plan := build(t, "streams"), written(t, letters)
	head := `{"type":"letter","text":"`
	b := &buckets{tables: newLargeTotals(t), payload: head + strings.Repeat(`\\`, (16<<20-len(head)-2)/2) + `"}`}
	sum := sha256.Sum256([]byte(b.payload))
	fn := startSmallest(t, binary, b,
		variables(plan, "INGOT_COUNTING=receipts", "INGOT_PAYLOAD_BUCKET=letters", "INGOT_ARCHIVE_BUCKET=archive"))
	const changes = 4
	var records []string
	for i := range changes {
		key := fmt.Sprintf(`{"PK":{"S":"LETTER#%d"},"SK":{"S":"-"}}`, i)
		image := fmt.Sprintf(
			`{"PK":{"S":"LETTER#%d"},"SK":{"S":"-"},"type":{"S":"letter"},"id":{"S":"%[1]d"},"at":{"S":"2020-03-01T10:00:00.000000000Z"},"digest":{"B":"%s"},"epoch":{"N":"1"},"expiresAt":{"N":"1600000000"},"i:payload":{"B":"%s"},"data":{"S":"{}"}}`,
			i, strings.Repeat("A", 43)+"=", base64.StdEncoding.EncodeToString(sum[:]))
		records = append(records,
			fmt.Sprintf(
				`{"eventID":"%d","eventName":"REMOVE","eventSource":"aws:dynamodb","eventSourceARN":"arn:aws:dynamodb:eu-central-1:123456789012:table/events/stream/1","dynamodb":{"ApproximateCreationDateTime":1700000000,"Keys":%s,"OldImage":%s,"SequenceNumber":"%021d","StreamViewType":"NEW_AND_OLD_IMAGES"}}`, i, key, image, i+1))
	}
	fn.takes(t, []byte(`{"Records":[`+strings.Join(records, ",")+`]}`), 0)
	if n := b.archived.Load(); n < changes*(2*16<<20-1000) {
		t.Errorf("%d bytes are archived", n)
	}
	fn.fits(t)
}
