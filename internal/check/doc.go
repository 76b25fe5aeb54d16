// Package check holds pipeline.yaml, and template.yaml against it, to what exactly-once needs, and says what each
// aggregate will cost.
//
// In the template it finds the parts by what they do, never by their names:
//
//   - The ingest function is the one function whose CodeUri ends in cmd/ingest, or else the one that has the
//     variable INGOT_TABLE and a mapping of an SQS queue.
//   - The streams function is the one whose CodeUri ends in cmd/streams, or else the one that has the variable
//     INGOT_AGGREGATES_TABLE and a mapping of a DynamoDB stream.
//   - The tables are what their INGOT_TABLE and INGOT_AGGREGATES_TABLE refer to.
//   - Mappings are a function's Events of type SQS and DynamoDB, and resources of type
//     AWS::Lambda::EventSourceMapping.
//
// A value that only a deployment can know is a warning that says so, at its place; it is never guessed.
package check
