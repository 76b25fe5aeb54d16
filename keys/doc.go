// Package keys says what makes two events the same event, and where items are stored. [Template]
// turns an event into key text. [Escape] makes sure that different values give different text.
// [Canonical] writes the canonical form of a payload, and [Digest] hashes it.
//
// Every result depends only on the event. testdata/vectors.json fixes the results for programs in
// other languages, and testdata/README.md explains that file.
package keys
