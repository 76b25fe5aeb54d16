package handler

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/store"
)

// streamEvent is what Lambda or EventBridge Pipes sends.
type streamEvent struct {
	records  []streamRecord
	shard    string // empty if the event names none
	windowed bool   // the mapping has a tumbling window
	piped    bool   // it comes from EventBridge Pipes
}

// streamRecord is one record. It is parsed, or raw if the event as a whole could not be parsed.
type streamRecord struct {
	node event.Node
	text json.RawMessage
}

func (r streamRecord) decode(shard string) (event.Change, error) {
	if r.text != nil {
		return store.ParseRecord(r.text, shard)
	}
	return store.DecodeRecord(r.node, shard)
}

func (r streamRecord) raw() json.RawMessage {
	if r.text != nil {
		return r.text
	}
	return json.RawMessage(r.node.Raw())
}

// readStreamEvent parses the event once, strictly. If the strict parser refuses the event because
// of one odd attribute, encoding/json takes it apart, so that each record stands alone. Read
// together, the odd record would fail them all.
func readStreamEvent(payload []byte) (*streamEvent, error) {
	doc, err := event.ParseDocument(string(payload))
	if text := bytes.TrimLeft(payload, " \t\r\n"); len(text) > 0 && text[0] == '[' {
		return readPipe(doc, err == nil, payload)
	}
	if err == nil {
		if e, plain := plainStreamEvent(doc.Root()); plain {
			return e, nil
		}
	}
	var e struct {
		Records []json.RawMessage `json:"Records"`
		Window  *events.Window    `json:"window"`
		ShardID string            `json:"shardId"`
	}
	if err := json.Unmarshal(payload, &e); err != nil {
		return nil, quietJSON(err)
	}
	odd := &streamEvent{shard: e.ShardID, windowed: e.Window != nil, records: make([]streamRecord, len(e.Records))}
	for i, text := range e.Records {
		odd.records[i].text = text
	}
	return odd, nil
}

// plainStreamEvent reads an event that is written as Lambda writes it. It returns false if another
// reader has to read the event.
func plainStreamEvent(root event.Node) (*streamEvent, bool) {
	records, window, shard := root.Member("Records"), root.Member("window"), root.Member("shardId")
	if records.Kind() != event.Array || (window.Exists() && window.Kind() != event.Object) || (shard.Exists() && shard.Kind() != event.String) {
		return nil, false
	}
	e := &streamEvent{windowed: window.Exists(), records: make([]streamRecord, 0, records.Len())}
	if shard.Exists() {
		e.shard = shard.Text()
	}
	for record := range records.Elements() {
		e.records = append(e.records, streamRecord{node: record})
	}
	return e, true
}

// readPipe reads what EventBridge Pipes sends to its target: a bare array of the stream's records.
// A pipe may have any source, and a template or an enrichment that writes something else. So every
// element must be a record of a DynamoDB stream.
func readPipe(doc event.Document, strict bool, payload []byte) (*streamEvent, error) {
	e := &streamEvent{piped: true}
	if !strict {
		return e, e.readOdd(payload)
	}
	for record := range doc.Root().Elements() {
		if record.Member("eventName").Kind() != event.String || record.Member("dynamodb").Kind() != event.Object {
			return nil, notPiped(len(e.records))
		}
		e.records = append(e.records, streamRecord{node: record})
	}
	return e, nil
}

// readOdd does what readPipe does, if the strict parser refuses the array because of something in
// one of its records.
func (e *streamEvent) readOdd(payload []byte) error {
	var texts []json.RawMessage
	if err := json.Unmarshal(payload, &texts); err != nil {
		return quietJSON(err)
	}
	for i, text := range texts {
		var record struct {
			Name   *string                    `json:"eventName"`
			Change map[string]json.RawMessage `json:"dynamodb"`
		}
		if json.Unmarshal(text, &record) != nil || record.Name == nil || record.Change == nil {
			return notPiped(i)
		}
		e.records = append(e.records, streamRecord{text: text})
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
	return errors.New("a part of it cannot be read") // such as a time in its window
}

func notPiped(i int) error {
	return fmt.Errorf("element %d of the array is not a record of a DynamoDB stream (an object with eventName and dynamodb); "+
		"a pipe must have the events table's stream as its source, no enrichment and no input template", i)
}
