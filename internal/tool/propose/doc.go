// Package propose reads sample events and proposes a pipeline.yaml for them.
//
// [Read] takes the events, one JSON document to a line. [Sample.Proposal] finds the event types.
// For each of them it says what the type is, which fields tell two events apart, which field is the
// event's time, and what key the item could have. [Proposal.YAML] writes that as a file. A comment
// next to each choice says how certain it is. The file compiles. [Proposal.Check] runs the sample
// with it, and says which events it does not store: those that are broken, those of a type without
// a time, and those of a type of which the sample does not decide which messages are one event.
//
// A sample can show that a choice is wrong, but never that it is right. Whether two orders may one
// day have the same number is known to the people who make the orders, but the file does not say
// it. So a person has to read what is proposed. The package stores nothing and sends no request.
package propose
