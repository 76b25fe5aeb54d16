// Package plan has what a pipeline is read and computed with: YAML with the place of each thing,
// structs that are declared in it, paths, conditions and values, JSON Schema, compression,
// lifetimes, where totals live, and planner, which turns an event into an item. advice is for tests
// alone. All of it is pure: it has no clock and no I/O.
//
// May import: base, and event, keys, envelope and aggregate.
//
// Never knows: pipeline.yaml as a whole, DynamoDB, or what time it is.
package plan
