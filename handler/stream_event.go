package handler

import (
	"encoding/json"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/store"
)

// streamEvent is what Lambda sends.
type streamEvent struct {
	records  []streamRecord
	shard    string // empty: it names none
	windowed bool   // the mapping has a tumbling window
}

// streamRecord is one record: parsed, or raw where the event as a whole could not be.
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

// readStreamEvent parses the event once, strictly. One that the strict parser refuses for a single odd
// attribute is taken apart as encoding/json does, so that each record stands alone: read together, the odd
// one would fail them all.
func readStreamEvent(payload []byte) (*streamEvent, error) {
	if doc, err := event.ParseDocument(string(payload)); err == nil {
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
		return nil, err
	}
	odd := &streamEvent{shard: e.ShardID, windowed: e.Window != nil, records: make([]streamRecord, len(e.Records))}
	for i, text := range e.Records {
		odd.records[i].text = text
	}
	return odd, nil
}

// plainStreamEvent is an event that is written as Lambda writes it. False: another reader has to see to it.
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
