// Package function holds what the two Lambda functions share. It reads their environment, makes the
// clients, puts the handlers together and writes their metrics. [Process.Ingest] and
// [Process.Streams] make the functions.
//
// Everything is read and checked once, before the first batch. A function that starts has all it
// needs. One that cannot work says why, and does not return every batch.
//
// With the build tag ingotlocal, the binaries carry an in-process engine in place of the AWS
// clients. It serves sam local invoke with nothing else running. What such a function stores ends
// with its process.
package function
