// Package records reads a batch of the events table's stream, as Lambda or EventBridge Pipes sends
// it.
package records

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Batch is what Lambda or EventBridge Pipes sends.
type Batch struct {
	Records  []Record
	Shard    string // empty if the event names none
	Windowed bool   // the mapping has a tumbling window
	Piped    bool   // it comes from EventBridge Pipes
}

// Record is one record of a batch.
type Record struct {
	node event.Node
	Raw  string // the text as it came
	err  error  // why it cannot be read; nil if it can
}

// Change decodes the record. If only a part of it can be read, the error comes with that part, such
// as the sequence number.
func (r Record) Change(shard string) (event.Change, error) {
	if r.err != nil {
		return event.Change{}, fmt.Errorf("stream record: %w", r.err)
	}
	return rows.ReadRecord(r.node, shard)
}

// Read parses the event once, strictly. If the strict parser refuses the event because of one bad
// record, encoding/json splits it into its records, so that only the bad one fails. The error says
// why the event is not a batch.
func Read(payload []byte) (*Batch, error) {
	doc, err := event.ParseDocument(string(payload))
	e, plain := plainBatch(doc.Root())
	if err != nil || !plain {
		if e, err = takeApart(payload); err != nil {
			return nil, err
		}
	}
	if e.Piped {
		return e, e.checkPiped()
	}
	return e, nil
}

// plainBatch reads an event that is written as Lambda or a pipe writes it. It returns false for
// everything else.
func plainBatch(root event.Node) (*Batch, bool) {
	records, window, shard := root.Member("Records"), root.Member("window"), root.Member("shardId")
	e := &Batch{Windowed: window.Exists(), Piped: root.Kind() == event.Array}
	if e.Piped {
		records = root
	}
	if records.Kind() != event.Array || (window.Exists() && window.Kind() != event.Object) ||
		(shard.Exists() && shard.Kind() != event.String) {
		return nil, false
	}
	if shard.Exists() {
		e.Shard = shard.Text()
	}
	e.Records = make([]Record, 0, records.Len())
	for record := range records.Elements() {
		e.Records = append(e.Records, Record{node: record, Raw: record.Raw()})
	}
	return e, true
}

// takeApart reads an event if the strict parser refuses a part of it, or if it is not written as
// Lambda writes it.
func takeApart(payload []byte) (*Batch, error) {
	var parts struct {
		Records []json.RawMessage `json:"Records"`
		Window  *struct{}         `json:"window"`
		ShardID string            `json:"shardId"`
	}
	into, piped := any(&parts), bytes.HasPrefix(bytes.TrimLeft(payload, " \t\r\n"), []byte("["))
	if piped {
		into = &parts.Records
	}
	if err := json.Unmarshal(payload, into); err != nil {
		return nil, quietJSON(err)
	}
	if parts.Records == nil && parts.Window == nil {
		return nil, errors.New("it has no Records")
	}
	e := &Batch{Shard: parts.ShardID, Windowed: parts.Window != nil, Piped: piped, Records: make([]Record, len(parts.Records))}
	for i, text := range parts.Records {
		e.Records[i] = readLoosely(text)
	}
	return e, nil
}

// readLoosely parses a single record. If the strict parser refuses it (a repeated name, half a
// surrogate pair), encoding/json reads it: it takes the last of two members with the same name, and
// replaces half a surrogate pair. This is allowed here because a record is not a producer's
// payload, and because a record without a readable sequence number would hold up its shard.
func readLoosely(text json.RawMessage) Record {
	doc, err := event.ParseDocument(string(text))
	if err != nil {
		var loose any
		reader := json.NewDecoder(bytes.NewReader(text))
		reader.UseNumber()
		if reader.Decode(&loose) == nil {
			if again, failed := json.Marshal(loose); failed == nil {
				doc, err = event.ParseDocument(string(again))
			}
		}
	}
	return Record{node: doc.Root(), Raw: string(text), err: err}
}

// checkPiped checks what EventBridge Pipes sends to its target: a bare array of the stream's
// records. A pipe may have another source, or a template or an enrichment that changes the records.
// So every element must be a record of a DynamoDB stream.
func (e *Batch) checkPiped() error {
	for i, r := range e.Records {
		if r.err == nil && (r.node.Member("eventName").Kind() != event.String || r.node.Member("dynamodb").Kind() != event.Object) {
			return fmt.Errorf("element %d of the array is not a record of a DynamoDB stream (an object with eventName and dynamodb); "+
				"a pipe must have the events table's stream as its source, no enrichment and no input template", i)
		}
	}
	return nil
}

// quietJSON returns the error of encoding/json without the text that it quotes.
func quietJSON(err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not valid JSON near byte %d", syntax.Offset)
	case errors.As(err, &kind):
		return fmt.Errorf("it has another JSON type than a stream batch near byte %d", kind.Offset)
	}
	return errors.New("a part of it cannot be read") // such as a time in the window
}
