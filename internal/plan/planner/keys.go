package planner

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// keys computes where the item stands in the table and in its indexes. If a field for an index is
// missing, the item is not in that index. All keys are substrings of one string.
func (w *work) keys(t *Type, item *event.Item) *event.Refusal {
	w.text, w.ends = w.text[:0], w.ends[:0]
	if err := w.pair(t.PK, t.SK); err != nil {
		return refuse("key", err)
	}
	if refusal := w.pairLength("key"); refusal != nil {
		return refusal
	}
	if len(t.Indexes) > 0 {
		item.Indexes = make([]event.IndexKey, 0, len(t.Indexes))
	}
	for i := range t.Indexes {
		index := &t.Indexes[i]
		if !index.Where.Holds(w.source.Data) {
			continue
		}
		if err := w.pair(index.PK, index.SK); isMissing(err) {
			continue
		} else if err != nil {
			return refuse(index.Name, err)
		}
		if refusal := w.pairLength(index.Name); refusal != nil {
			return refusal
		}
		item.Indexes = append(item.Indexes, event.IndexKey{Name: index.Name})
	}
	all, from := string(w.text), 0
	next := func() string {
		piece := all[from:w.ends[0]]
		from, w.ends = w.ends[0], w.ends[1:]
		return piece
	}
	item.Key = event.Key{PK: next(), SK: next()}
	for i := range item.Indexes {
		item.Indexes[i].Key = event.Key{PK: next(), SK: next()}
	}
	return nil
}

// pair appends the texts of two templates to w.text, and their ends to w.ends. If one of them
// fails, it appends neither.
func (w *work) pair(pk, sk *keys.Template) error {
	text, ends := w.text, w.ends
	for _, t := range [...]*keys.Template{pk, sk} {
		var err error
		if text, err = t.Append(text, &w.source); err != nil {
			return err
		}
		ends = append(ends, len(text))
	}
	w.text, w.ends = text, ends
	return nil
}

// shorter says what to do about a key that is too long.
const shorter = "; {FIELD | sha256} makes a long value short"

// pairLength checks the pair that was appended last against the limits of DynamoDB.
func (w *work) pairLength(member string) *event.Refusal {
	n := len(w.ends)
	start := 0
	if n > 2 {
		start = w.ends[n-3]
	}
	pk, sk := w.ends[n-2]-start, w.ends[n-1]-w.ends[n-2]
	switch {
	case pk > event.MaxPK:
		return event.Poisoned(event.KeyTooLong,
			fmt.Sprintf("%s pk takes %d bytes, and DynamoDB allows %d%s", member, pk, event.MaxPK, shorter))
	case sk > event.MaxSK:
		return event.Poisoned(event.KeyTooLong,
			fmt.Sprintf("%s sk takes %d bytes, and DynamoDB allows %d%s", member, sk, event.MaxSK, shorter))
	}
	return nil
}
