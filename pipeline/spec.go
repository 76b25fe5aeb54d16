package pipeline

import "time"

// Format is the version of the file format that this build reads.
const Format = 1

// Spec is pipeline.yaml as Go values. It holds what the file says, before anything is resolved. The
// tags are the names in the file. The JSON Schema for editors is generated from the tags and from
// the comments of the fields. Durations are written in the file as s, m, h, d or w: 90d. If the
// file may have a list instead of a text, the text here holds one entry in each line.
type Spec struct {
	// Version of the file format: 1.
	Ingot int `yaml:"ingot" need:"yes"`
	// Raised by one whenever an aggregate is added, changed or removed; never lowered. Every item is stamped with
	// it.
	Epoch int64 `yaml:"epoch" need:"yes" min:"1" max:"1000000000"`
	// Where a bare payload says its type: a template such as {type}, {@attribute.NAME}, or a constant. Or a list of
	// them: the first whose fields are all there. An envelope's own type wins.
	Type string `yaml:"type" list:"yes"`
	// Event types by name.
	Events map[string]EventSpec `yaml:"events" like:"{order.placed: {id: \"{order_id}\", at: \"{placed_at}\", key: {pk: \"ORDER#{order_id}\", sk: \"ORDER\"}}}" need:"yes"`
	// Live totals by name.
	Aggregates map[string]AggregateSpec `yaml:"aggregates" like:"{orders: {since: 1, from: {order.placed: {values: {orders: count}}}}}"`
}

// EventSpec declares one event type.
type EventSpec struct {
	// Template of the event's identity. Default: the envelope's (CloudEvents source and id, EventBridge id).
	// {@digest} for events without a natural id.
	ID string `yaml:"id"`
	// Template of the event time: RFC 3339 text, or | unix, or | unixms. Default: the envelope's time.
	At string `yaml:"at"`
	// Where the item lives in the events table.
	Key KeySpec `yaml:"key" need:"yes"`
	// Keys in the secondary indexes GSI1 to GSI20. An event that lacks a field is simply not in that index.
	Indexes map[string]KeySpec `yaml:"indexes" like:"{GSI1: {pk: \"…\", sk: \"…\"}}" keys:"^GSI([1-9]|1[0-9]|20)$"`
	// Top-level attributes of the item, each a path into the payload, for filters and other readers.
	Attributes map[string]string `yaml:"attributes" like:"{status: status}" keys:"^[A-Za-z_][A-Za-z0-9_]*$"`
	// The item expires at its event time plus this; at least 1d. Default: never.
	Retain time.Duration `yaml:"retain"`
	// Shorter lifetimes of before, so that a longer retain does not bring back what has expired.
	Was []WasSpec `yaml:"was" like:"[{retain: 30d, before: 2026-03-01T00:00:00Z}]"`
	// insert (default): an immutable fact. latest: the newest revision wins.
	Mode string `yaml:"mode" enum:"insert,latest"`
	// Under mode latest: the path that orders revisions and its type, as in: updated_at time, or: seq number. Or a
	// list: each entry breaks the ties of those before it.
	Revision string `yaml:"revision" list:"yes"`
	// Paths left out of the digest, because they differ between retries of one event.
	Ignore []string `yaml:"ignore"`
	// Reserved for payload schemas; not yet built.
	Schema any `yaml:"schema"`
}

// WasSpec is a retain that was in force earlier. An event whose own time is before Before expires
// after Retain at the latest, because its item may have been stored, counted and removed under that
// lifetime.
type WasSpec struct {
	// A shorter retain of before; at least 1d.
	Retain time.Duration `yaml:"retain" need:"yes"`
	// RFC 3339. It holds for events whose own time is before this, a time after the deployment that made retain
	// longer.
	Before time.Time `yaml:"before" need:"yes"`
}

// KeySpec is a pair of templates: partition key and sort key.
type KeySpec struct {
	// Template of the partition key, at most 2,048 bytes.
	PK string `yaml:"pk" need:"yes"`
	// Template of the sort key, at most 1,024 bytes.
	SK string `yaml:"sk" need:"yes"`
}

// AggregateSpec declares one generation of one aggregate.
type AggregateSpec struct {
	// The epoch that introduced this definition.
	Since int64 `yaml:"since" need:"yes" min:"1"`
	// What the totals are grouped by: names and templates.
	By map[string]string `yaml:"by" like:"{merchant: \"{merchant_id}\"}" keys:"^[a-z][a-z0-9_]*$"`
	// Length of the time window over the event time, aligned in UTC. Default: one total for all time.
	Window time.Duration `yaml:"window"`
	// The event types that feed it, and what each adds.
	From map[string]FromSpec `yaml:"from" like:"{order.placed: {values: {orders: count}}}" need:"yes"`
	// keep (default): an all-time total. subtract: a total of what is still live.
	OnExpire string `yaml:"onExpire" enum:"keep,subtract"`
	// Write shards of one hot aggregate; default 1.
	Spread int `yaml:"spread" min:"1" max:"1000"`
	// The total expires at its window's end plus this; needs window, and at least the events' retain plus 7d.
	// Default: never.
	Retain time.Duration `yaml:"retain"`
}

// FromSpec is what one event type adds to an aggregate.
type FromSpec struct {
	// Only events for which this holds: path op literal, in, exists, and, or, not, parentheses.
	Where string `yaml:"where"`
	// Value names and how each is computed: count, sum PATH, sum -PATH, min PATH or max PATH. PATH? supplies nothing
	// where the field is missing or null, length PATH is the number of elements of an array. With a condition of its
	// own: {sum: PATH, where: CONDITION}.
	Values map[string]string `yaml:"values" entry:"count,sum,min,max,where" like:"{orders: count}" need:"yes" keys:"^[a-z][a-z0-9_]*$"`
}
