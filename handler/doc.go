// Package handler has the handlers of the two Lambda functions. [Ingest] takes a batch of messages
// from SQS and stores their events. [Streams] takes a batch of changes from the events table's
// stream and keeps the totals. Package quarantine makes the place for messages that cannot be
// stored, and [NewArchive] the one for events that expire.
//
// The handlers read no settings and make no clients. Package ingot does that.
//
// Both handlers answer with the messages or changes that are not proven done, so that only those
// are delivered again. To report too many does no harm, because everything here may be repeated. To
// report too few would lose data. No request starts after a handler has answered.
package handler
