package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// streamEvent is what Lambda or EventBridge Pipes sends.
type streamEvent struct {
	records  []streamRecord
	shard    string // empty if the event names none
	windowed bool   // the mapping has a tumbling window
	piped    bool   // it comes from EventBridge Pipes
}

// streamRecord is one record. err says why it cannot be read; it is nil if it can be read.
type streamRecord struct {
	node event.Node
	raw  string // the text as it came
	err  error
}

func (r streamRecord) decode(shard string) (event.Change, error) {
	if r.err != nil {
		return event.Change{}, fmt.Errorf("stream record: %w", r.err)
	}
	return rows.ReadRecord(r.node, shard)
}

// readStreamEvent parses the event once, strictly. If the strict parser refuses the event because
// of one bad record, encoding/json splits it into its records, so that only the bad one fails.
func readStreamEvent(payload []byte) (*streamEvent, error) {
	doc, err := event.ParseDocument(string(payload))
	e, plain := plainStreamEvent(doc.Root())
	if err != nil || !plain {
		if e, err = takeApart(payload); err != nil {
			return nil, err
		}
	}
	if e.piped {
		return e, e.checkPiped()
	}
	return e, nil
}

// plainStreamEvent reads an event that is written as Lambda or a pipe writes it. It returns false
// for everything else.
func plainStreamEvent(root event.Node) (*streamEvent, bool) {
	records, window, shard := root.Member("Records"), root.Member("window"), root.Member("shardId")
	e := &streamEvent{windowed: window.Exists(), piped: root.Kind() == event.Array}
	if e.piped {
		records = root
	}
	if records.Kind() != event.Array || (window.Exists() && window.Kind() != event.Object) ||
		(shard.Exists() && shard.Kind() != event.String) {
		return nil, false
	}
	if shard.Exists() {
		e.shard = shard.Text()
	}
	e.records = make([]streamRecord, 0, records.Len())
	for record := range records.Elements() {
		e.records = append(e.records, streamRecord{node: record, raw: record.Raw()})
	}
	return e, true
}

// takeApart reads an event if the strict parser refuses a part of it, or if it is not written as
// Lambda writes it.
func takeApart(payload []byte) (*streamEvent, error) {
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
	e := &streamEvent{shard: parts.ShardID, windowed: parts.Window != nil, piped: piped, records: make([]streamRecord, len(parts.Records))}
	for i, text := range parts.Records {
		e.records[i] = readLoosely(text)
	}
	return e, nil
}

// readLoosely parses a single record. If the strict parser refuses it (a repeated name, half a
// surrogate pair), encoding/json reads it: it takes the last of two members with the same name, and
// replaces half a surrogate pair. This is allowed here because a record is not a producer's
// payload, and because a record without a readable sequence number would hold up its shard.
func readLoosely(text json.RawMessage) streamRecord {
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
	return streamRecord{node: doc.Root(), raw: string(text), err: err}
}

// checkPiped checks what EventBridge Pipes sends to its target: a bare array of the stream's
// records. A pipe may have another source, or a template or an enrichment that changes the records.
// So every element must be a record of a DynamoDB stream.
func (e *streamEvent) checkPiped() error {
	for i, r := range e.records {
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
