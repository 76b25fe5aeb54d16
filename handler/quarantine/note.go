package quarantine

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
)

// Note is what quarantine adds to a letter, as JSON in the attribute [Attribute].
type Note struct {
	Verdict string `json:"verdict"`
	Reason  string `json:"reason"`
	Detail  string `json:"detail"`
	PK      string `json:"pk,omitempty"`
	SK      string `json:"sk,omitempty"`
	// Group is the group id that the message had in its queue. The quarantine queue has no groups,
	// so the note keeps it until the message is sent again.
	Group string `json:"group,omitempty"`
	// Trace is the trace that the message belongs to: see [TraceOf].
	Trace string `json:"trace,omitempty"`
	// Events are the places of the events that can never be stored, in a message that has several.
	// The rest of the note is about the first of them that is not Rejected, or about the first if
	// all of them are. All other events of the message are stored or dropped.
	Events Places `json:"events,omitempty"`
	// Others are the places of these others, with [] in place of the numbers of elements.
	Others []string `json:"others,omitempty"`
}

// Places are paths of events from the payload of their message, as [event.Place] writes them.
type Places []string

// UnmarshalJSON reads a list of paths. It also reads what earlier versions wrote: the numbers of
// elements, counted from 0, of a message that is an array.
func (p *Places) UnmarshalJSON(text []byte) error {
	var list []json.RawMessage
	err := json.Unmarshal(text, &list)
	for i := 0; i < len(list) && err == nil; i++ {
		var number uint
		var path string
		if json.Unmarshal(list[i], &number) == nil {
			path = event.Place{Index: int(number)}.String()
		} else {
			err = json.Unmarshal(list[i], &path)
		}
		*p = append(*p, path)
	}
	return err
}

// isNote reports whether an attribute is Ingot's. A producer may give its own attribute the same
// name.
func isNote(a events.SQSMessageAttribute) bool {
	if a.DataType != "String" || a.StringValue == nil {
		return false
	}
	_, is := ReadNote(*a.StringValue)
	return is
}

// ReadNote reads the text of an attribute. It returns false if the text is not a note, but
// something that a producer gave the same name.
func ReadNote(text string) (n Note, is bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if d.Decode(&n) != nil || d.InputOffset() != int64(len(text)) {
		return Note{}, false
	}
	v, _ := event.ParseVerdict(n.Verdict)
	return n, n.Reason != "" && v.Quarantined()
}

// OfStream reports whether the letter is from the streams function or the publish function. Such a
// letter is about a stored item or a total, and is not a message that could be sent again.
func (n *Note) OfStream() bool {
	if n == nil {
		return false
	}
	switch event.Reason(n.Reason) {
	case UndecodableRecord, RefusedUpdate, GivenUp, Unpublished:
		return true
	}
	return false
}

// maxDetail bounds the detail in a note, because the detail may quote the payload.
const maxDetail = 1024

// note returns Ingot's attribute. group is empty if the message had no group id, and refused is
// empty if it has one event.
func note(r *event.Refusal, group, trace string, refused, others []event.Place) types.MessageAttributeValue {
	n := Note{Verdict: r.Verdict.String(), Reason: string(r.Reason), Detail: excerpt.Of(r.Detail, maxDetail), PK: r.Key.PK, SK: r.Key.SK,
		Group: group, Trace: trace}
	for _, place := range refused {
		n.Events = append(n.Events, place.String())
	}
	for _, place := range others {
		if each := place.Path().Every().String(); !slices.Contains(n.Others, each) {
			n.Others = append(n.Others, each)
		}
	}
	value, _ := json.Marshal(n)
	return types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String(sendable(value))}
}

// sendable returns JSON text without what JSON allows and SQS refuses. It escapes two characters.
// It replaces bytes that are not UTF-8, which encoding/json lets pass in a record.
func sendable(text []byte) string {
	return strings.NewReplacer("\ufffe", `\ufffe`, "\uffff", `\uffff`).Replace(strings.ToValidUTF8(string(text), "\ufffd"))
}
