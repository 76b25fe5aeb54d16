package pipeline

import (
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
)

// Format is the version of the file format that this build reads.
const Format = 1

// Month and Year are the windows that pipeline.yaml writes as 1mo and 1y: months and years of the
// calendar, in UTC. They are values of [AggregateSpec].Window alone.
const (
	Month = lifetime.Month
	Year  = lifetime.Year
)

// Spec is pipeline.yaml as Go values. It holds what the file says, before anything is resolved. The
// tags are the names in the file. The JSON Schema for editors is generated from the tags and from
// the comments of the fields. Durations are written in the file as s, m, h, d or w: 90d. If the
// file may have a list in place of a text, the text here has one line for each entry.
type Spec struct {
	// The version of the file format: 1.
	Ingot int `yaml:"ingot" need:"yes"`
	// Raise it by one whenever you add, change or remove an aggregate. Never lower it. Every item
	// is stamped with it.
	Epoch int64 `yaml:"epoch" need:"yes" min:"1" max:"1000000000"`
	// The type of a bare payload: a template such as {type} or {@attribute.NAME}, or a constant. It
	// may be a list. Then the first entry whose fields all exist is used. The type of an envelope
	// goes first, unless an entry names it as {@type}.
	Type string `yaml:"type" list:"yes"`
	// Where a message may hold several events, each with an id of its own. true means a message
	// that is a JSON array of events.
	Batches []BatchSpec `yaml:"batches" all:"."`
	// Event types that nobody wants, such as customer.*: their messages are done with, and nothing
	// is stored.
	Drop []string `yaml:"drop" like:"[ping, customer.*]"`
	// Event types by name.
	Events map[string]EventSpec `yaml:"events" like:"{order.placed: {id: \"{order_id}\", at: \"{placed_at}\", key: {pk: \"ORDER#{order_id}\", sk: \"ORDER\"}}}" need:"yes"`
	// The questions that you will ask, by name. GetItem or Query alone answers each of them.
	Patterns map[string]PatternSpec `yaml:"patterns" like:"{order_story: {read: [order.placed, order.paid]}}" keys:"^[a-z][a-z0-9_]*$"`
	// Live totals by name.
	Aggregates map[string]AggregateSpec `yaml:"aggregates" like:"{orders: {since: 1, from: {order.placed: {values: {orders: count}}}}}"`
}

// BatchSpec is a place where a message may hold several events.
type BatchSpec struct {
	// A path from the payload to an array of events, such as Records or entry[].changes, where []
	// stands for each element of an array. A point alone means a message that is itself the array.
	Each string `yaml:"each" need:"yes"`
	// Values of the objects around an event, which it takes into its payload, by their names there.
	With map[string]string `yaml:"with" like:"{account: \"entry[].id\"}"`
	// An object may be without the array. Then it holds no events of this kind.
	Optional bool `yaml:"optional"`
}

// EventSpec declares one event type.
type EventSpec struct {
	// A template for the identity of an event. The default is the identity in the envelope
	// (CloudEvents source and id, EventBridge id). Use {@digest} for events without an id.
	ID string `yaml:"id"`
	// A template for the time of an event: RFC 3339 text, text with | utc or | rfc2822, or a
	// number with | unix, | unixms or | unixns. The default is the time in the envelope.
	At string `yaml:"at"`
	// The key of the item in the events table.
	Key KeySpec `yaml:"key" need:"yes"`
	// The keys in the secondary indexes GSI1 to GSI20. An event that lacks a field is not in that
	// index.
	Indexes map[string]IndexSpec `yaml:"indexes" like:"{GSI1: {pk: \"…\", sk: \"…\"}}" keys:"^GSI([1-9]|1[0-9]|20)$"`
	// Attributes at the top level of the item, for filters and other readers. Each is a path into
	// the payload.
	Attributes map[string]string `yaml:"attributes" like:"{status: status}" keys:"^[A-Za-z_][A-Za-z0-9_]*$"`
	// The item expires at its event time plus this. It must be at least 1h. By default items never
	// expire.
	Retain time.Duration `yaml:"retain"`
	// A template for the time at which the item expires, such as {expires_at}, written as at is. It
	// is never later than retain allows.
	Expires string `yaml:"expires"`
	// Shorter lifetimes that were in force earlier. With them, a longer retain does not bring back
	// what has expired.
	Was []WasSpec `yaml:"was" like:"[{retain: 30d, before: 2026-03-01T00:00:00Z}]"`
	// With insert (the default) an event never changes. With latest the newest revision wins.
	Mode string `yaml:"mode" enum:"insert,latest"`
	// For mode latest: the path that orders revisions, and its type, such as "updated_at time" or
	// "seq number", or a template that makes a time or a number, such as "{version | pad:9}". {@at}
	// is the time of the event. It may be a list. Then each entry breaks the ties of those before
	// it.
	Revision string `yaml:"revision" list:"yes"`
	// Paths that the digest leaves out, because they differ between retries of one event. A []
	// stands for each element of an array.
	Ignore []string `yaml:"ignore"`
	// Stores the payload compressed where that saves a write unit.
	Compress bool `yaml:"compress"`
	// Puts large payloads into the payload bucket. The item then keeps the fields that this file
	// uses.
	Offload OffloadSpec `yaml:"offload"`
	// Makes the type a part of another one, its whole. A message of the whole yields its parts
	// beside it, and each of them is an item of its own.
	Part PartSpec `yaml:"part"`
	// For a type that has parts: it is stored together with them, all in one transaction or
	// nothing. A part whose key does not show the id of the whole is then a claim to a unique
	// value.
	Atomic bool `yaml:"atomic"`
	// Events that must be stored before this one, such as the account of a transfer. While one of
	// them is missing, an event comes again twice, and is then Rejected.
	Requires []RequireSpec `yaml:"requires" like:"[{type: account.opened, key: {account: \"{from_account}\"}}]"`
	// What a payload must look like: the path of a JSON Schema (2020-12), from the folder of this
	// file, or the schema itself as a text that begins with a brace. What breaks it is Poison.
	Schema string `yaml:"schema"`
	// The migration that copies the rows of another table into events of this type, until it is
	// retired. Before the type turns, its messages go to quarantine.
	Migrated string `yaml:"migrated"`
}

// RequireSpec names an event that must be stored before another one.
type RequireSpec struct {
	// The type of that event.
	Type string `yaml:"type" need:"yes"`
	// The fields that its key is made of, each with a template over the payload of this event.
	Key map[string]string `yaml:"key" like:"{account: \"{from_account}\"}"`
}

// OffloadSpec says which payloads go to the payload bucket.
type OffloadSpec struct {
	// A payload goes to the bucket if its JSON text has more bytes than this: a whole number and
	// KB, from 1KB to 256KB.
	Over int64 `yaml:"over" need:"yes" min:"1024" max:"262144" size:"yes"`
	// Further paths into the payload that the item keeps, for other readers of the table.
	Keep []string `yaml:"keep" like:"[customer.name]"`
}

// PartSpec says which items one message yields beside the item of its whole.
type PartSpec struct {
	// The event type that is the whole. It is never a part itself.
	Of string `yaml:"of" need:"yes"`
	// A path to an array in the payload of the whole. There is one part for each of its elements.
	// An element that is a text or a number is the member value of its part. By default there is
	// exactly one part.
	Each string `yaml:"each"`
	// Members of the payload of the whole that every part has too, before those of its element. A
	// mapping gives them other names, and may take them out of objects: {order_id: order.id}. In Go
	// an entry of it is order_id=order.id.
	With []string `yaml:"with" like:"[order_id, currency]" named:"yes"`
}

// WasSpec is a retain or an expires that was in force earlier. An event whose own time is before
// Before expires then at the latest, because its item may have been stored, counted and removed
// under that lifetime.
type WasSpec struct {
	// The shorter retain. It must be at least 1h.
	Retain time.Duration `yaml:"retain"`
	// The expires of that time, in place of retain.
	Expires string `yaml:"expires"`
	// The entry holds for events whose own time is before this RFC 3339 time. Choose a time after
	// the deployment that makes retain longer.
	Before time.Time `yaml:"before" need:"yes"`
}

// KeySpec is a pair of templates: partition key and sort key.
type KeySpec struct {
	// A template for the partition key, of at most 2,048 bytes.
	PK string `yaml:"pk" need:"yes"`
	// A template for the sort key, of at most 1,024 bytes.
	SK string `yaml:"sk" need:"yes"`
}

// IndexSpec is the key of an item in one secondary index, and which items are in it.
type IndexSpec struct {
	// A template for the partition key, of at most 2,048 bytes.
	PK string `yaml:"pk" need:"yes"`
	// A template for the sort key, of at most 1,024 bytes.
	SK string `yaml:"sk" need:"yes"`
	// A condition for the events that are in the index: path op literal, in, exists, and, or, not,
	// parentheses. By default all are that have the fields of pk and sk.
	Where string `yaml:"where"`
	// Templates that pk had earlier. Patterns read them beside pk, until the items that were stored
	// under them are gone.
	Was []string `yaml:"was"`
}

// PatternSpec declares one question that is asked of the tables. It has either read or total.
type PatternSpec struct {
	// The event types that are read. All of them have the same pk in the index.
	Read []string `yaml:"read" like:"[order.placed, order.paid]"`
	// The index that is read: GSI1 to GSI20. The default is the table's own key.
	Index string `yaml:"index"`
	// The aggregate whose totals are read, instead of events.
	Total string `yaml:"total"`
	// With total: how many totals with the greatest values of a window are read, in the order of
	// the aggregate's rank.
	Top int `yaml:"top" min:"1" max:"1000"`
	// Whether the newest come first. The default is the oldest first.
	Newest bool `yaml:"newest"`
	// One name for fields that are called differently in the types that are read.
	As map[string][]string `yaml:"as" like:"{customer: [customer_id, buyer.id]}"`
	// The time at which the first events are stored. A question without a beginning begins there.
	Since time.Time `yaml:"since"`
	// How often the question is asked each second. It is used for the cost that check shows.
	Rate int64 `yaml:"rate" min:"1" max:"1000000"`
}

// AggregateSpec declares one generation of one aggregate.
type AggregateSpec struct {
	// The epoch that introduced this definition.
	Since int64 `yaml:"since" need:"yes" min:"1"`
	// What the totals are grouped by: a template for each name.
	By map[string]string `yaml:"by" like:"{merchant: \"{merchant_id}\"}" keys:"^[a-z][a-z0-9_]*$"`
	// The length of the windows over the event time, which are aligned in UTC: a duration, or 1mo
	// or 1y for months and years of the calendar. By default there is one total for all time.
	Window time.Duration `yaml:"window" calendar:"yes"`
	// The event types that feed it, and what each adds.
	From map[string]FromSpec `yaml:"from" like:"{order.placed: {values: {orders: count}}}" need:"yes"`
	// With keep (the default) totals keep what expires. With subtract they lose it.
	OnExpire string `yaml:"onExpire" enum:"keep,subtract"`
	// How many items each total is spread over, if many events move the same total. The default is
	// 1.
	Spread int `yaml:"spread" min:"1" max:"1000"`
	// What moves the totals. With stream (the default) they follow the events within seconds. With
	// put they move in the transaction that stores the event.
	MovedBy string `yaml:"movedBy" enum:"stream,put"`
	// With put: the least that a value may come to. An event that subtracts more is Rejected.
	AtLeast map[string]event.Decimal `yaml:"atLeast" like:"{available: 0}" keys:"^[a-z][a-z0-9_]*$"`
	// With put: the most that a value may come to. An event that adds more is Rejected.
	AtMost map[string]event.Decimal `yaml:"atMost" like:"{spent: 1000}" keys:"^[a-z][a-z0-9_]*$"`
	// Keeps the totals of each window in the order of one of their values, as a leaderboard does.
	Rank RankSpec `yaml:"rank" like:"{value: orders}"`
	// The total expires at the end of its window plus this. It needs a window, and must be at least
	// the retain of the events plus 7d. By default totals never expire.
	Retain time.Duration `yaml:"retain"`
}

// RankSpec says by which value the totals of a window are kept in order.
type RankSpec struct {
	// The name of a value that is a count, sum, min or max.
	Value string `yaml:"value" need:"yes" like:"orders"`
	// How many partitions of the index each list is in. Each takes about 500 moves a second. The
	// default is 1.
	Shards int `yaml:"shards" min:"1" max:"100"`
	// Some of the names in by. The totals of a window that share these values are one list. By
	// default all totals of a window are.
	Within []string `yaml:"within" like:"[level]"`
}

// FromSpec is what one event type adds to an aggregate.
type FromSpec struct {
	// A condition for the events that count: path op literal, in, exists, and, or, not,
	// parentheses.
	Where string `yaml:"where"`
	// The name of each value, and how it is computed: count, sum PATH, sum -PATH, sum NUMBER, min
	// PATH, max PATH, newest PATH, oldest PATH, histogram PATH or distinct PATH. PATH? adds nothing
	// where the field is missing or null. length PATH is the number of elements of an array, and
	// number(PATH) is a number that may be in quotes. A value may have a condition of its own:
	// {sum: PATH, where: CONDITION}.
	Values map[string]string `yaml:"values" entry:"count,sum,min,max,newest,oldest,histogram,distinct,where" like:"{orders: count}" need:"yes" keys:"^[a-z][a-z0-9_]*$"`
}
