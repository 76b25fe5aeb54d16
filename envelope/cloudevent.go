package envelope

import (
	"encoding/base64"
	"maps"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// marks are the attributes that every CloudEvent has (CloudEvents 1.0.2, "Required Attributes"),
// without specversion, which is always 1.0 here. They also have the prefix that binary mode used.
type marks struct {
	id, source, kind string
	prefix           string
}

const specVersion = "1.0"

// prefixes are those of CloudEvents attributes among message attributes. See the package comment.
var prefixes = [...]string{"ce-", "ce_", "cloudEvents_"}

func (m marks) sameEvent(other marks) bool {
	return m.id == other.id && m.source == other.source && m.kind == other.kind
}

// identity joins source and id, which together are unique (CloudEvents 1.0.2, "id"). Different
// pairs never give the same text, because each part is escaped and an escaped part contains no '#'.
func (m marks) identity() string {
	return keys.Escape(m.source) + "#" + keys.Escape(m.id)
}

func structuredMarkers(root event.Node) (marks, bool) {
	if !texts(root, "specversion", "id", "source", "type") || root.Member("specversion").Text() != specVersion {
		return marks{}, false
	}
	return marks{id: root.Member("id").Text(), source: root.Member("source").Text(), kind: root.Member("type").Text()}, true
}

func binaryMarkers(attributes map[string]string) (marks, bool) {
	if len(attributes) < 4 {
		return marks{}, false // most messages have no attributes, so there is nothing to look for
	}
	for _, p := range prefixes {
		m := marks{id: attributes[p+"id"], source: attributes[p+"source"], kind: attributes[p+"type"], prefix: p}
		if attributes[p+"specversion"] == specVersion && m.id != "" && m.source != "" && m.kind != "" {
			return m, true
		}
	}
	return marks{}, false
}

func openStructured(root event.Node, m marks, attributes map[string]string) (Opened, *event.Refusal) {
	data, refusal := structuredData(root)
	if refusal != nil {
		return Opened{}, typed(refusal, m.kind)
	}
	merged := maps.Clone(attributes)
	for name, value := range root.Members() {
		if !described(name) && scalar(value) {
			merged = with(merged, name, value.Text())
		}
	}
	opened := m.open(data, merged, Structured)
	opened.At, opened.BadAt = structuredTime(root.Member("time"))
	return opened, nil
}

func openBinary(doc event.Document, m marks, attributes map[string]string) (Opened, *event.Refusal) {
	if refusal := mustBeObject(doc.Root(), "the data of the CloudEvent (the body)"); refusal != nil {
		return Opened{}, typed(refusal, m.kind)
	}
	merged := maps.Clone(attributes)
	for name, value := range attributes {
		if bare, ok := strings.CutPrefix(name, m.prefix); ok && bare != "" && !described(bare) {
			merged[bare] = value
		}
	}
	opened := m.open(doc, merged, Binary)
	if s, ok := attributes[m.prefix+"time"]; ok {
		opened.At, opened.BadAt = parseTime(s, "message attribute "+m.prefix+"time")
	}
	return opened, nil
}

// typed says in a refusal which type the envelope gives to the event, unless its name is long.
func typed(refusal *event.Refusal, name string) *event.Refusal {
	if len(name) <= 100 {
		refusal.Type = name
	}
	return refusal
}

func (m marks) open(data event.Document, attributes map[string]string, form Form) Opened {
	return Opened{
		Event: event.Event{Type: m.kind, ID: m.identity(), Source: m.source, Attributes: attributes, Data: data},
		Kind:  Kind{Form: form},
	}
}

// described reports whether the attribute has a field of its own in an Event. Templates reach the
// others as @attribute.NAME: extensions, subject, dataschema and datacontenttype.
func described(name string) bool {
	switch name {
	case "specversion", "id", "source", "type", "time", "data", "data_base64":
		return true
	}
	return false
}

// scalar reports whether n can be the value of a CloudEvents attribute. "null" means that the
// attribute is not set (CloudEvents JSON format 1.0.2, section 2.2). Arrays and objects cannot be
// attribute values.
func scalar(n event.Node) bool {
	switch n.Kind() {
	case event.String, event.Number, event.Bool:
		return true
	}
	return false
}

func structuredTime(n event.Node) (time.Time, *event.Refusal) {
	switch n.Kind() {
	case event.Absent, event.Null:
		return time.Time{}, nil
	case event.String:
		return parseTime(n.Text(), "time of the CloudEvent")
	}
	return time.Time{}, event.Poisoned(event.BadTime, "time of the CloudEvent is "+article(n.Kind())+", not RFC 3339 text")
}

// structuredData returns data, or the JSON in data_base64. A body with both is not a CloudEvent
// (JSON format 1.0.2, section 3.1.1).
func structuredData(root event.Node) (event.Document, *event.Refusal) {
	data, coded := root.Member("data"), root.Member("data_base64")
	switch {
	case !coded.Exists() || coded.Kind() == event.Null:
		return payload(data, "data of the CloudEvent")
	case data.Exists() && data.Kind() != event.Null:
		return event.Document{}, event.Poisoned(event.BadEnvelope, "the CloudEvent has both data and data_base64")
	case coded.Kind() != event.String:
		return event.Document{}, event.Poisoned(event.BadEnvelope, "data_base64 of the CloudEvent is "+article(coded.Kind())+
			", not a string")
	}
	decoded, err := base64.StdEncoding.DecodeString(coded.Text())
	if err != nil {
		return event.Document{}, event.Poisoned(event.BadEnvelope, "data_base64 of the CloudEvent: "+err.Error())
	}
	const where = "data_base64 of the CloudEvent"
	doc, err := event.ParseDocument(string(decoded))
	if err != nil {
		return event.Document{}, event.Poisoned(event.Undecodable, where+": "+err.Error())
	}
	if refusal := mustBeObject(doc.Root(), where); refusal != nil {
		return event.Document{}, refusal
	}
	return doc, nil
}

func parseTime(s, where string) (time.Time, *event.Refusal) {
	t, err := keys.ParseTime(s)
	if err != nil {
		return time.Time{}, event.Poisoned(event.BadTime, where+": "+err.Error())
	}
	return t.UTC(), nil
}

func with(m map[string]string, name, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[name] = value
	return m
}
