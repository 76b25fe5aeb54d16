// Package env holds everything that store and handler take from the world besides their clients:
// the clock, waiting, chance and goroutines.
//
// The zero value of [Env] is the real world. A simulation or a test sets its own functions, so that
// a run depends only on its seed. The package knows no service.
package env
