// Package propose reads sample events and proposes a pipeline.yaml for them.
//
// [Read] takes the events, one JSON document a line. [Sample.Proposal] says, for each event type that it
// finds, what the type is, which fields tell two events apart, which field is the event's time, and what
// key the item could have. [Proposal.YAML] writes that as a file that compiles and that takes every event
// of the sample, with a comment beside each choice that says how certain it is.
//
// A sample can show that a choice is wrong, never that it is right: whether two orders may one day have the
// same number is known to the people who make them, not to the file. So a person has to read what is
// proposed. The package stores nothing and sends no request.
package propose
