package envelope

// Form is the format that an event's own description was in.
type Form uint8

// The forms.
const (
	// Raw: no envelope; the payload is the whole text.
	Raw Form = iota
	// Structured: a CloudEvent in one JSON object.
	Structured
	// Binary: a CloudEvent in message attributes, with its data as the body.
	Binary
	// EventBridge: an Amazon EventBridge event.
	EventBridge
)

// String is for people.
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
	}
	return "unknown"
}

// Kind lists what was recognised around a payload. The zero Kind is a bare payload.
type Kind struct {
	SNS  bool // the event was in the Message of an SNS notification
	Form Form
}

// String reads from the outside in: "SNS > CloudEvent (structured)".
func (k Kind) String() string {
	if k.SNS {
		return "SNS > " + k.Form.String()
	}
	return k.Form.String()
}
