package publish

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/table/payloads"
)

// Message is one event on its way to a target.
type Message struct {
	// ID is the id of the CloudEvent.
	ID string
	// Once is the deduplication id for a FIFO target: the id, and which change of the stream it is.
	// An event that is stored, removed and stored again has its first id again. By the id alone, a
	// FIFO target would drop the third message if it comes within five minutes (SQS developer
	// guide, "Using the message deduplication ID").
	Once string
	// Group orders messages: those of one key have the same.
	Group                string
	Source, Type, Change string
	Time                 time.Time
	Body                 string // the CloudEvent
}

// size returns the size that the targets count for a message, and a little more: its body, and what
// else of it is sent beside the body.
func (m *Message) size() int { return len(m.Body) + len(m.Source) + 2*len(m.Type) + beside }

const suffixRemoved = ".removed" // of the type of a removal

// beside is more than the names and the types of message attributes take, and the time.
const beside = 128

// change is something that happened to an item, and that a publication sends.
type change struct {
	to   int // the place of the publication in the plan
	what string
	item *event.Item // as it is stored, or as it was
	was  *event.Item // of what is changed: the version before
	at   time.Time   // of a removal: its second
	// record is the place of the stream record in its batch.
	record int
	told   *Message // the message, if it is known already
	alone  bool     // it was in a request that was refused as a whole
	place  string   // the sequence number of the stream record; empty if it comes from no record
}

// changeOf returns what a stream record did to an event. It has no item if nothing is published of
// it. A copy of a row whose type a migration has not turned yet is not an event. After
// the turn, such a copy is an event without an epoch until somebody touches it. What has an epoch
// keeps it if the types go back, so it stays an event. A touch changes neither digest nor revision.
// Time to live is not a removal.
func (p *Plan) changeOf(c *event.Change) change {
	was, is := c.Old, c.New
	switch {
	case is == nil && (was == nil || c.Expired || p.copied(was)):
		return change{}
	case is == nil:
		return change{what: Removed, item: was, at: c.Created}
	case p.copied(is):
		return change{}
	case was == nil || was.Type != is.Type:
		return change{what: Stored, item: is}
	case was.Digest != is.Digest || versionOf(was) != versionOf(is):
		return change{what: Changed, item: is, was: was}
	}
	return change{}
}

// wants reports whether a publication sends a change whose item has this payload, as far as its
// `when` says. What cannot be judged is sent: a payload that cannot be read, or a test of an
// earlier payload that is not known. Every removal is sent, because its receiver may know of any
// version.
func (p *Plan) wants(c *change, payload string) bool {
	when := p.Publications[c.to].when
	if when == nil || c.what == Removed {
		return true
	}
	now, err := event.ParseDocument(payload)
	if err != nil {
		return true
	}
	var before event.Document
	known := c.place != "" // what is published again had an earlier version, or not
	if c.was != nil {
		before, err = event.ParseDocument(c.earlier())
		known = err == nil
	}
	return when.Holds(now.Root(), before.Root(), known)
}

// earlier returns the payload before a change. It is empty if there was none, or if it is in the
// payload bucket. Such a payload is not read: only a type that has become one of mode latest can
// have one.
func (c *change) earlier() string {
	if c.was == nil || c.was.Payload != nil {
		return ""
	}
	return c.was.Data
}

func (p *Plan) copied(item *event.Item) bool {
	return item.Epoch == 0 && p.pipeline.Migration(item.Type) != ""
}

func versionOf(item *event.Item) string {
	if item.Revision == nil {
		return ""
	}
	return item.Revision.String() + " " + item.Ties
}

// idOf returns the id of a CloudEvent: the SHA-256 of everything that says which event it is, each
// value after its length.
func idOf(source, what string, item *event.Item, removed time.Time) string {
	h := sha256.New()
	add(h, source, item.Key.PK, item.Key.SK, item.Type, item.Digest.String(), versionOf(item))
	if what == Removed {
		add(h, Removed, strconv.FormatInt(removed.Unix(), 10))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// toldBy returns the message of a removal from a letter. Its id is that of the first time.
func toldBy(key event.Key, body json.RawMessage) (*Message, error) {
	var of struct {
		ID, Source, Type, Change, PK, SK string
		Time                             time.Time
	}
	err := json.Unmarshal(body, &of)
	if err != nil || of.ID == "" || of.Change != Removed || (event.Key{PK: of.PK, SK: of.SK}) != key {
		return nil, fmt.Errorf("the letter of %s does not hold the message of its removal", key)
	}
	return &Message{ID: of.ID, Once: of.ID, Group: key.Hash(), Source: of.Source, Type: of.Type, Change: of.Change, Time: of.Time,
		Body: sendable.Replace(string(body))}, nil
}

func add(h hash.Hash, values ...string) {
	for _, v := range values {
		fmt.Fprintf(h, "%d:%s,", len(v), v)
	}
}

// message returns the CloudEvent of a change. payload is the item's own JSON text, as it was
// received. With an empty one, the message names the item and where its payload is. That is so for
// a removal, and for what is larger than the target takes. before is the payload before it, which
// the message has as a text, because an attribute of a CloudEvent is no object. It may be empty.
func (p *Plan) message(c *change, payload, before, bucket string) Message {
	item, at, typ := c.item, c.item.At, c.item.Type
	if c.what == Removed {
		at, typ = c.at, typ+suffixRemoved
	}
	m := Message{ID: idOf(p.source, c.what, item, c.at), Group: item.Key.Hash(), Source: p.source, Type: typ, Change: c.what, Time: at}
	if m.Once = m.ID; c.place != "" {
		m.Once += "-" + c.place
	}
	var b strings.Builder
	member := func(name, value string) {
		text, _ := json.Marshal(value) // a text
		fmt.Fprintf(&b, `,"%s":%s`, name, text)
	}
	b.WriteString(`{"specversion":"1.0"`)
	member("id", m.ID)
	member("source", m.Source)
	member("type", m.Type)
	member("time", at.UTC().Format(time.RFC3339Nano))
	member("change", c.what)
	if trace := traceOf(item); trace != "" {
		member(quarantine.Traceparent, trace)
	}
	if before != "" {
		member("before", before)
	}
	if payload != "" {
		b.WriteString(`,"datacontenttype":"application/json","data":`)
		b.WriteString(payload)
	} else {
		member("pk", item.Key.PK)
		member("sk", item.Key.SK)
		member("digest", item.Digest.String())
		if c.what != Removed && item.Payload != nil {
			member("dataref", "s3://"+bucket+"/"+payloads.Name(item.Type, item.Key, item.Payload.Sum))
		}
	}
	b.WriteByte('}')
	m.Body = sendable.Replace(b.String())
	return m
}

// traceOf returns the trace that an item has as an attribute, or nothing.
func traceOf(item *event.Item) string {
	at := slices.IndexFunc(item.Attributes, func(a event.Attribute) bool { return a.Name == quarantine.Traceparent })
	if at < 0 {
		return ""
	}
	return quarantine.TraceOf(envelope.Message{Attributes: map[string]string{quarantine.Traceparent: item.Attributes[at].Text}}, "")
}

// sendable escapes the two characters that JSON allows and SQS and SNS refuse.
var sendable = strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`)
