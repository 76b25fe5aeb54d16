// Package keys says what makes two events the same event, and where items are stored. [Template]
// turns an event into key text. [Escape] makes sure that different values give different text.
// [Canonical] writes the canonical form of a payload, and [Digest] hashes it.
//
// Most programs need none of this: package pipeline makes keys as pipeline.yaml says, and
// [github.com/ingot-events/ingot/pipeline.Pipeline.Key] returns them. This package is public for
// programs that must arrive at the same keys and digests without a pipeline.
//
// Every result depends only on the event. testdata/vectors.json fixes the results for programs in
// other languages, and testdata/README.md explains that file.
package keys
