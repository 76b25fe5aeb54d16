// Package function holds what the two Lambda functions share. It reads their environment, makes the
// clients, puts the handlers together and writes their metrics. [Process.Ingest] and
// [Process.Streams] make the functions.
//
// Everything is read and checked once, before the first batch. A function that cannot work does not
// start, and its error explains why. Otherwise it would start and then return every batch to the
// queue.
//
// With the build tag ingotlocal, the binaries have an in-process engine in place of the AWS
// clients. So sam local invoke works although nothing else runs. What such a function stores is
// lost when its process ends.
package function
