package event

import (
	"errors"
	"slices"
)

// Verdict says what became of one event. Every message gets exactly one.
type Verdict uint8

// The verdicts, in the order they are reported in.
const (
	// Inserted means that the event was new and is stored.
	Inserted Verdict = iota + 1
	// Updated means that a newer revision replaced the stored one (mode latest).
	Updated
	// Duplicate means that an item with the same key and digest is proven stored, or that the key
	// is barred because a person erased the event.
	Duplicate
	// Stale means that the stored revision was read and is newer (mode latest).
	Stale
	// Dropped means that the pipeline says that nobody wants the event. Nothing is stored, and the
	// message is done.
	Dropped
	// Conflict means that an item with the same key and another digest is stored. The event goes to
	// quarantine, and is never dropped.
	Conflict
	// Rejected means that the event may not be stored now: a total that moves with it would go
	// beyond a bound, or cannot be updated any more, or an event that it requires is not stored.
	// Nothing is stored. The event goes to quarantine.
	Rejected
	// Expired means that nothing is stored, and that the event has expired or will expire within
	// ten minutes. If it were stored now, it could count twice after time to live has removed it.
	// The event goes to quarantine.
	Expired
	// Poison means that the event can never be stored. It goes to quarantine.
	Poison
	// Retry means that nothing is proven. SQS must deliver the message again.
	Retry
)

// Verdicts lists every verdict in the order in which they are reported.
var Verdicts = func() (all [len(told) - 1]Verdict) {
	for i := range all {
		all[i] = Verdict(i + 1)
	}
	return all
}()

// told is all that the code knows of a verdict. To add a verdict, add its constant and its row.
var told = [...]struct {
	name  string
	means string // in a few words
	is    standing
	// severity decides among the items of a message. It is 0 for the verdicts of stored events.
	severity int
	weight   int // decides among the events of a message
	// seldom: only pipelines that declare a reason for it have it, so its metric is written only
	// with a batch that has it.
	seldom bool
}{
	Inserted:  {"Inserted", "new, and stored", written, 0, -1, false},
	Updated:   {"Updated", "a newer revision, and stored", written, 0, -2, false},
	Duplicate: {"Duplicate", "the same event is stored already", stored, 0, -3, false},
	Stale:     {"Stale", "a newer revision is stored already", stored, 0, -4, false},
	Dropped:   {"Dropped", "of a type that nobody wants: done with", dropped, 0, -5, true},
	Conflict:  {"Conflict", "another payload is stored under this key: quarantine", quarantined, 3, 2, false},
	Rejected:  {"Rejected", "a bound or requires refuses it: quarantine", quarantined, 2, 1, true},
	Expired:   {"Expired", "past its time: quarantine", quarantined, 1, 2, false},
	Poison:    {"Poison", "can never be stored: quarantine", quarantined, 4, 2, false},
	Retry:     {"Retry", "nothing proven: delivered again", open, 5, 3, false},
}

// standing is what becomes of a message with a verdict.
type standing uint8

const (
	open        standing = iota // it stays in the queue
	written                     // it is done, and has changed what is stored
	stored                      // it is done
	dropped                     // it is done, and nothing is stored
	quarantined                 // it goes to quarantine
)

// String returns the verdict's name, as it stands in logs, metrics and summaries.
func (v Verdict) String() string {
	switch {
	case v == 0:
		return "None"
	case int(v) < len(told):
		return told[v].name
	}
	return "Invalid"
}

// Means says in a few words what the verdict means, for people. v is one of [Verdicts].
func (v Verdict) Means() string { return told[v].means }

// ParseVerdict returns the verdict of this name, as [Verdict.String] writes it. ok is false if
// there is none.
func ParseVerdict(name string) (v Verdict, ok bool) {
	i := slices.IndexFunc(Verdicts[:], func(v Verdict) bool { return told[v].name == name })
	return Verdict(i + 1), i >= 0
}

// Stored reports whether v proves that the event is in the table, so that the message is done.
func (v Verdict) Stored() bool { return v.Written() || int(v) < len(told) && told[v].is == stored }

// Written reports whether v means that the event, or its newer revision, has been stored just now.
func (v Verdict) Written() bool { return int(v) < len(told) && told[v].is == written }

// Done reports whether a message with verdict v is done, so that SQS may delete it.
func (v Verdict) Done() bool { return v.Stored() || int(v) < len(told) && told[v].is == dropped }

// Quarantined reports whether a message with verdict v belongs in quarantine.
func (v Verdict) Quarantined() bool { return int(v) < len(told) && told[v].is == quarantined }

// Severity orders the verdicts of one message's items: the highest decides for the message. Retry
// is the worst, because such a message is delivered again, whatever else is wrong with it. All
// verdicts that mean stored have 0, so the whole's is used.
func (v Verdict) Severity() int { return told[v].severity }

// Outweighs reports whether a message that is an array of events has verdict v rather than other,
// if its events have both. Retry comes first, because the message is delivered again. Then come the
// verdicts that belong in quarantine. Of these, Rejected is last, because what a bound refuses is
// normal and no alarm rings for it; the others are equal. The verdicts of events that are done come
// after them, in the order of their constants.
func (v Verdict) Outweighs(other Verdict) bool { return v.weight() > other.weight() }

// Seldom reports whether only pipelines that declare a reason for v have it.
func (v Verdict) Seldom() bool { return told[v].seldom }

func (v Verdict) weight() int { return told[v].weight }

// Refusal says, as an error, why an event is not stored. It has the verdict (Poison, Conflict,
// Rejected, Expired, Dropped or Retry), a reason for metrics and alarms to group by, and a detail
// for people.
type Refusal struct {
	Verdict Verdict
	Reason  Reason
	Detail  string // for the person who reads it. Unless Verdict is Retry it may quote the event, and must not be logged
	Key     Key    // empty if it is not known; for people
	Type    string // the event type, if it is known; of an unknown type at most 100 bytes of its name
}

// Error returns text such as "Poison (missing-field): id: field order_id is missing".
func (r *Refusal) Error() string {
	return r.Verdict.String() + " (" + string(r.Reason) + "): " + r.Detail
}

// Poisoned returns the [Refusal] of an event that can never succeed.
func Poisoned(reason Reason, detail string) *Refusal {
	return &Refusal{Verdict: Poison, Reason: reason, Detail: detail}
}

// RefusalOf returns the [Refusal] that err is or wraps. For every other error it returns a Poison
// refusal with the error's text. It returns nil if err is nil.
func RefusalOf(err error) *Refusal {
	var r *Refusal
	if err != nil && !errors.As(err, &r) {
		r = Poisoned(Undecodable, err.Error())
	}
	return r
}

// Reason is a stable word for one cause of refusal.
type Reason string

// The reasons.
const (
	Undecodable      Reason = "undecodable"       // not strict JSON
	NotAnObject      Reason = "not-an-object"     // JSON, but not an object
	BadEnvelope      Reason = "bad-envelope"      // recognised as an envelope, but a part of it is unusable
	UnknownType      Reason = "unknown-type"      // no such event type in the pipeline
	MissingField     Reason = "missing-field"     // a field that id, at, key, by or a value needs is missing, null or empty
	WrongType        Reason = "wrong-type"        // a field has a type that its use does not allow
	BadTime          Reason = "bad-time"          // a time that cannot be read, or outside the years 1970 to 9999
	NumberOutOfRange Reason = "number-range"      // a number outside what can be summed or stored
	KeyTooLong       Reason = "key-too-long"      // over 2,048 bytes of PK or 1,024 of SK
	ValueTooLong     Reason = "value-too-long"    // a field that a total keeps has over 1 KB
	ItemTooLarge     Reason = "item-too-large"    // over 400 KB
	TooManyParts     Reason = "too-many-parts"    // a message that yields over 1,000 parts, or over 4 MiB of them
	BadArray         Reason = "bad-array"         // a message with arrays of no events, or of over 1,000
	NoEvents         Reason = "no-events"         // no array where the pipeline says that events are; Dropped if it may be missing
	PartsClash       Reason = "parts-clash"       // two items of one message have one key or id, or a part has one name twice
	BreaksSchema     Reason = "schema"            // the payload is not as the schema of its type says
	PayloadElsewhere Reason = "payload-elsewhere" // the payload is in S3, in a bucket that may not be read
	PayloadTooLarge  Reason = "payload-too-large" // the payload is in S3 and has over 16 MiB
	TooFarAhead      Reason = "too-far-ahead"     // over 30 days in the future, and the payload goes to the payload bucket
	DigestDiffers    Reason = "digest-differs"    // Conflict: another payload under the same key
	KeyTaken         Reason = "key-taken"         // Conflict: an item that is not Ingot's under the same key
	Claimed          Reason = "claimed"           // Conflict: another event has the unique value that this one claims
	BelowFloor       Reason = "below-floor"       // Rejected: a total that moves with the put would fall below its floor
	AboveCeiling     Reason = "above-ceiling"     // Rejected: it would rise above its ceiling
	Requires         Reason = "requires"          // Rejected: an event that it requires is not stored; Retry while it may still come
	NotTurned        Reason = "not-turned"        // Rejected: a migration has not turned the type yet, so its events are written elsewhere
	TotalRefused     Reason = "total-refused"     // Rejected: a total that moves with the put cannot be updated any more
	UnwantedType     Reason = "unwanted"          // Dropped: the pipeline's drop names the type
	PastExpiry       Reason = "past-expiry"       // Expired
	Barred           Reason = "barred"            // Duplicate: a person erased the event, and its key is barred
	Throttled        Reason = "throttled"         // Retry: the table or an index refused for capacity
	Unproven         Reason = "unproven"          // Retry: no answer, or a stored digest that could not be read
	PayloadUnread    Reason = "payload-unread"    // Retry: the payload is in S3, and the object is missing or could not be read
	PayloadUnstored  Reason = "payload-unstored"  // Retry: the payload could not be put into the payload bucket, or not be deleted there
	Unattempted      Reason = "unattempted"       // Retry: not begun before the deadline, or behind a failed one of its FIFO group
	NewerStamp       Reason = "newer-stamp"       // Retry: what is stored has a form and an epoch that this version does not know
	Refused          Reason = "refused"           // Retry: the service refused the request (permissions, missing table)
)
