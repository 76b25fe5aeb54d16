// Package function is what the two Lambda functions share: it reads their environment, makes the clients,
// puts the handlers together and writes their metrics.
//
// Everything is read and checked once, before the first batch. A function that starts has all it needs; one
// that cannot work says so in words instead of returning every batch.
//
// With the build tag ingotlocal the binaries carry an in-process engine in place of the AWS clients: for
// sam local invoke with nothing else running. What such a function stores ends with its process.
package function
