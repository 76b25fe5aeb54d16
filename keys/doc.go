// Package keys says what makes two events the same event, and where items live: templates that turn an
// event into key text, the escaping that keeps them injective, the canonical form of a payload and the
// digest over it.
//
// All of it is a pure function of the event. testdata/vectors.json fixes the results for programs in other
// languages; testdata/README.md explains the file.
package keys
