// Package payloads reads the payloads that are in S3 because they are too large for a message. A
// [Reader] reads the object that an [envelope.Pointer] names, within bounds. It writes nothing, and
// decides nothing about events.
package payloads
