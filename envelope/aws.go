package envelope

import (
	"maps"
	"strings"

	"github.com/ingot-events/ingot/event"
)

// isEventBridge looks for every field that EventBridge puts on an event (EventBridge user guide,
// "Event structure"). version is 0 in all events.
func isEventBridge(root event.Node) bool {
	return texts(root, "version", "id", "detail-type", "source", "account", "time", "region") &&
		root.Member("version").Text() == "0" &&
		root.Member("resources").Kind() == event.Array &&
		root.Member("detail").Kind() == event.Object
}

func openEventBridge(root event.Node, attributes map[string]string) (Opened, *event.Refusal) {
	if m, is := structuredMarkers(root.Member("detail")); is {
		opened, refusal := openStructured(root.Member("detail"), m, attributes)
		if refusal != nil {
			refusal.Detail = "in the EventBridge event: " + refusal.Detail
			return Opened{}, refusal
		}
		opened.Kind.Form = EventBridgeStructured
		return opened, nil
	}
	data, refusal := payload(root.Member("detail"), "detail of the EventBridge event")
	if refusal != nil {
		return Opened{}, refusal
	}
	at, badAt := parseTime(root.Member("time").Text(), "time of the EventBridge event")
	return Opened{
		Event: event.Event{
			Type: root.Member("detail-type").Text(), ID: root.Member("id").Text(), Source: root.Member("source").Text(),
			At: at, BadAt: badAt, Attributes: maps.Clone(attributes), Data: data,
		},
		Kind: Kind{Form: EventBridge},
	}, nil
}

// notification returns the message inside an SNS notification. Its form is that of the SNS
// developer guide, "HTTP/HTTPS notification JSON format", which queues get too. MessageId and
// Timestamp of the notification say nothing about the event, because they change when it is
// published again. Signatures are not checked: the queue policy decides who may send to the queue.
func notification(root event.Node) (Message, bool) {
	if !texts(root, "Type", "MessageId", "TopicArn", "Timestamp") || root.Member("Type").Text() != "Notification" ||
		!strings.HasPrefix(root.Member("TopicArn").Text(), "arn:") || root.Member("Message").Kind() != event.String {
		return Message{}, false
	}
	m := Message{Body: root.Member("Message").Text()}
	switch root.Member("MessageAttributes").Kind() {
	case event.Absent, event.Null:
		return m, true
	case event.Object:
	default:
		return Message{}, false
	}
	for name, value := range root.Member("MessageAttributes").Members() {
		kind, ok := text(value, "Type")
		if !ok || value.Member("Value").Kind() != event.String {
			return Message{}, false
		}
		// String.Array is JSON text, and custom types such as Number.cents begin with the type they
		// are.
		if base, _, _ := strings.Cut(kind, "."); base == "String" || base == "Number" {
			m.Attributes = with(m.Attributes, name, value.Member("Value").Text())
		}
	}
	return m, true
}

func openNotification(inner Message, outer map[string]string, elements *[]Message) (Opened, *event.Refusal) {
	inner.inSNS = true
	opened, refusal := open(inner, elements)
	if refusal != nil {
		refusal.Detail = "in the SNS notification: " + refusal.Detail
		return Opened{}, refusal
	}
	if elements != nil && *elements != nil {
		for name, value := range outer {
			if _, taken := inner.Attributes[name]; !taken {
				inner.Attributes = with(inner.Attributes, name, value)
			}
		}
		for i := range *elements {
			(*elements)[i].Attributes = inner.Attributes
		}
		(*elements)[0].of.around.Attributes = inner.Attributes
		return Opened{}, nil
	}
	for name, value := range outer {
		if _, taken := opened.Attributes[name]; !taken {
			opened.Attributes = with(opened.Attributes, name, value)
		}
	}
	opened.Kind.SNS = true
	return opened, nil
}
