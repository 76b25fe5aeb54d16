package lanes_test

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// FuzzKey reads arbitrary keys and marks of aggregate items. If they are understood, they are
// written again exactly as they were, so that no total has two keys.
func FuzzKey(f *testing.F) {
	corpus.Add(f)
	f.Add("A#merchant_daily#1#3#m%23 1", "2018-02-01T00:00:00Z", []byte{})
	f.Add("A#x#-1#0", "-", make([]byte, 21))
	f.Add("A#x#+1#00", "2018-02-01T00:00:00.5Z", make([]byte, 20))
	f.Fuzz(func(t *testing.T, pk, sk string, stored []byte) {
		key := event.Key{PK: pk, SK: sk}
		if a, ok := lanes.ParseKey(key); ok {
			def := &aggregate.Definition{Name: a.Name, Since: a.Since}
			must.Equal(t, lanes.Key(def, a.Bucket, a.By, a.Window), key)
		}
		mark, err := lanes.ParseMark(stored)
		if (err == nil) != (len(stored) == len(mark)) {
			t.Fatalf("%d bytes: %v", len(stored), err)
		}
		if err != nil {
			return
		}
		at, err := event.ParseSequence(fmt.Sprintf("%021d", new(big.Int).SetBytes(stored[:17])))
		if err != nil {
			return // no sequence number is that large
		}
		if again := lanes.MarkAt(at, mark.Created()); again != mark || !mark.Covers(at) {
			t.Errorf("mark %x is written again as %x", mark, again)
		}
	})
}
