package envelope

// Form is the format that described the event.
type Form uint8

// These are the forms.
const (
	// Raw means that there is no envelope: the whole text is the payload.
	Raw Form = iota
	// Structured is a CloudEvent in one JSON object.
	Structured
	// Binary is a CloudEvent in message attributes, with its data as the body.
	Binary
	// EventBridge is an Amazon EventBridge event.
	EventBridge
	// EventBridgeStructured is a CloudEvent in one JSON object, which is the detail of an Amazon
	// EventBridge event. EventBridge gives each delivery of an event a new id, so the CloudEvent's
	// own counts.
	EventBridgeStructured
)

// String returns the form's name, for people.
func (f Form) String() string {
	switch f {
	case Raw:
		return "raw JSON"
	case Structured:
		return "CloudEvent (structured)"
	case Binary:
		return "CloudEvent (binary)"
	case EventBridge:
		return "EventBridge"
	case EventBridgeStructured:
		return "EventBridge > CloudEvent (structured)"
	}
	return "unknown"
}

// Kind lists what was recognised around a payload. The zero Kind is a bare payload.
type Kind struct {
	SNS  bool // the event was in the Message of an SNS notification
	Form Form
}

// String returns the envelopes from the outside in: "SNS > CloudEvent (structured)".
func (k Kind) String() string {
	if k.SNS {
		return "SNS > " + k.Form.String()
	}
	return k.Form.String()
}
