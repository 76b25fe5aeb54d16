package quarantine

import (
	"encoding/json"

	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
)

// These are the reasons why a function on the stream sends something to quarantine.
const (
	UndecodableRecord event.Reason = "undecodable-record" // a stream record cannot be understood
	GivenUp           event.Reason = "given-up"           // an operator has given up a record of a later epoch
	RefusedUpdate     event.Reason = "refused-update"     // the table refuses an update of a total for good
	// Unpublished is for a record that the publish function cannot read, or that its target has
	// refused for too long.
	Unpublished event.Reason = "unpublished"
)

// Record is the body of a letter of a function on the stream. It is enough to find the item and the
// record again.
type Record struct {
	PK        string          `json:"pk"`
	SK        string          `json:"sk"`
	StreamARN string          `json:"streamArn"`
	ShardID   string          `json:"shardId,omitempty"` // empty: the batch does not name it
	Sequences []string        `json:"sequenceNumbers"`
	Reason    event.Reason    `json:"reason"`
	Detail    string          `json:"detail"`
	Aggregate string          `json:"aggregate,omitempty"` // of a total
	Record    json.RawMessage `json:"record,omitempty"`    // the record itself, if it fits
	Change    string          `json:"change,omitempty"`    // of a record that was not published
	// Removals are, by publication, the messages that would have told of a removal. The event is
	// not in the table any more, so they can be made of nothing else. They have no payload.
	Removals map[string]json.RawMessage `json:"removals,omitempty"`
}

// bodyMost leaves room for the note beside a letter's body: keys of 3 KB and a detail of 1 KB. In
// JSON, each of their characters may take six.
const bodyMost = maxMessageBytes - 32<<10

// Letter returns the letter. It leaves out the record if it does not fit.
func (r Record) Letter() Letter {
	body, err := json.Marshal(r)
	if err != nil || len(sendable(body)) > bodyMost {
		r.Record = nil
		body, _ = json.Marshal(r)
	}
	why := &event.Refusal{Verdict: event.Poison, Reason: r.Reason, Detail: r.Detail, Key: event.Key{PK: r.PK, SK: r.SK}}
	return Letter{sendable(body), map[string]types.MessageAttributeValue{Attribute: note(why, "", "", nil, nil)}}
}
