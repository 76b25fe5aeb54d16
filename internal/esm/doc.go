// Package esm does what Lambda's event source mappings do. A mapping polls a queue ([Queue]) or a
// table's stream ([Stream]), builds the JSON that Lambda would send, calls a function with it, and
// treats the answer as Lambda would. It works over any client with the SDK's method signatures: the
// embedded engine, an emulator, or the services.
//
// Tests and `ingot dev` drive mappings over the engine, and `migrate capture`, `migrate retire` and
// `ingot try` drive them over the services themselves.
//
// The caller drives a mapping. Poll does one round and reports what it did. A mapping starts no
// goroutine of its own unless Concurrency is above 1. It never sleeps, and it reads no clock except
// the one that it is given. Run calls Poll in a loop. It is for real endpoints.
//
// If Lambda's documents leave something open, the mapping does what is harder for the function. So
// a function that works here also works in Lambda. The code marks these choices as "undocumented".
//
// May import: nothing of this module.
//
// Never knows: Ingot, or which AWS it talks to.
package esm
