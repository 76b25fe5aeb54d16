// Package env is everything that store and handler take from the world besides their clients: the clock, waiting,
// chance and goroutines.
//
// The zero value of [Env] is the real world. A simulation or a test puts its own functions in, which makes a run a
// function of its seed. The package knows no service.
package env
