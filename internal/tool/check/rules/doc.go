// Package rules holds template.yaml and samconfig.toml to what pipeline.yaml needs of them. Each
// file has the rules about one kind of resource; [Checker.All] applies them, and each adds a
// [Finding].
//
// It finds the parts of the template by what they do, never by their names:
//
//   - The ingest function is the one function whose CodeUri ends in cmd/ingest, or else the one
//     that has the variable INGOT_TABLE and a mapping of an SQS queue.
//   - The streams function is the one whose CodeUri ends in cmd/streams, or else the one that has
//     the variable INGOT_AGGREGATES_TABLE and a mapping of a DynamoDB stream.
//   - The tables are what their INGOT_TABLE and INGOT_AGGREGATES_TABLE refer to.
//   - Mappings are a function's Events of type SQS and DynamoDB, and resources of type
//     AWS::Lambda::EventSourceMapping.
//
// The package never guesses a value that only a deployment can know. Instead, it warns at the place
// of that value.
package rules
