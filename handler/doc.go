// Package handler is the two Lambda functions. Ingest takes a batch of messages from SQS and stores their
// events; Streams takes a batch of changes from the events table's stream and keeps the totals.
//
// Both answer with what is not proven, so that only that is delivered again: over-reporting is free, because
// everything here may be repeated; under-reporting would lose data. No request starts after a handler has
// answered.
package handler
