// Package esm does what Lambda's event source mappings do. A mapping polls a queue ([Queue]) or a
// table's stream ([Stream]), builds the JSON that Lambda would send, calls a function with it, and
// treats the answer as Lambda would. It works over any client with the SDK's method signatures: the
// embedded engine, an emulator, or the services.
//
// A mapping is driven from outside. Poll does one round and reports what it did. A mapping starts
// no goroutine of its own unless Concurrency is above 1. It never sleeps, and it reads no clock
// except the one it is given. Run is a loop over Poll for real endpoints.
//
// Where Lambda's documents say nothing, the mapping takes the stricter reading. So a function that
// passes here has nothing to fear there. The code marks these choices as "undocumented".
package esm
