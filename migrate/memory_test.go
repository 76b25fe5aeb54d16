package migrate_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/tables"
)

// measuring takes writes and keeps nothing of them. Now and then it measures the heap.
type measuring struct {
	tables.Client
	mu          sync.Mutex
	asked, most uint64
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func (c *measuring) PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked++; c.asked%500 == 1 {
		c.most = max(c.most, heap())
	}
	return &dynamodb.PutItemOutput{}, nil
}

// Of a batch of rows with a thousand parts each, only the parts of a few rows are in memory at
// once. Most of what is measured is the batch itself, decoded. A hundred such rows stay far below
// the 512 MB of the function.
func TestMemoryOfManyParts(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills memory, which the race detector multiplies")
	}
	m := begin(t)
	client := &measuring{Client: m.engine.DynamoDB()}
	m.config.Client = client
	m.sync = m.reopened()
	var phones, records []string
	list := ""
	for i := range 1000 {
		phones = append(phones, fmt.Sprintf("%030d", i))
		list += fmt.Sprintf(`,{"M":{"number":{"S":"%030d"}}}`, i)
	}
	many := slow.Number(20, 100)
	for i := range many {
		account := fmt.Sprint(i)
		m.row(profile(account, "ann", phones...))
		key := fmt.Sprintf(`"pk":{"S":"USER#%s"},"at":{"S":"2031-05-05T06:00:00Z"}`, account)
		records = append(records, fmt.Sprintf(`{"dynamodb":{"SequenceNumber":"%d","Keys":{%s},"NewImage":{%s,"name":{"S":"ann"},"phones":{"L":[%s]}}}}`,
			i, key, key, list[1:]))
	}
	batch := []byte(`{"Records":[` + strings.Join(records, ",") + `]}`)
	before := heap()
	out, err := (&migrate.Capture{Migration: m.sync}).Handle(t.Context(), batch)
	if m.must(err); len(out.BatchItemFailures) > 0 || client.asked < uint64(many)*1000 {
		t.Fatalf("%d writes, %+v", client.asked, out)
	}
	if took, most := (client.most-before)>>10, uint64(many)*1100; took > most { // half as much again if all parts are made at once
		t.Errorf("the batch takes %d KB, at most %d", took, most)
	}
}
