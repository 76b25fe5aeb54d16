// Package esm does what Lambda's event source mappings do: it polls a queue or a table's stream, builds the
// JSON that Lambda would send, calls a function with it, and treats the answer as Lambda would. It works over
// any client with the SDK's method signatures: the embedded engine, an emulator, the services.
//
// A mapping is driven from outside. Poll does one round and says what it did; a mapping starts no goroutine
// of its own unless Concurrency is above 1, never sleeps, and reads no clock but the one it is given. Run is a
// loop over Poll for real endpoints.
//
// Where Lambda's documents are silent, the mapping takes the stricter reading, so that a function that passes
// here has nothing to fear there. These choices are marked "undocumented" beside the code.
package esm
