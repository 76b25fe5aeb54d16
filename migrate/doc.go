// Package migrate moves a live DynamoDB table into an Ingot table while an application goes on
// writing it: capture, backfill, compare, turn.
//
// migration.yaml says what each row becomes (package rowmap). From there on a row is planned by
// pipeline.yaml, like a message. [Migration] makes the copies of rows equal to the rows. It needs
// no order and no single delivery, so everything that names changed rows can feed it: [Capture]
// from the old table's stream, a [Pass] from a scan. [Migration.Compare] proves the copy.
//
// A copy carries epoch 0, so nothing counts it, and `i:migrated`, which changes with every write of
// it. A key that holds a copy no more keeps a tombstone.
package migrate
