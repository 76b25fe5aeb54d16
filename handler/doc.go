// Package handler has the handlers of the two Lambda functions. [Ingest] takes a batch of messages
// from SQS and stores their events. [Streams] takes a batch of changes from the events table's
// stream and keeps the totals. [NewQuarantine] and [NewArchive] make the places for what cannot be
// stored and for what expires.
//
// The handlers read no settings and make no clients. Package ingot does that.
//
// Both handlers answer with what is not proven, so that only that is delivered again. To report too
// much costs nothing, because everything here may be repeated. To report too little would lose
// data. No request starts after a handler has answered.
package handler
