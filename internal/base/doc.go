// Package base has what every package may use: shortened text, the nearest name, the form of an
// item in the events table, errors of AWS, and DynamoDB's reserved words.
//
// May import: nothing of Ingot.
//
// Never knows: what an event, a total or a pipeline is.
package base
