// Package contract compares the engine in internal/local/embedded with what the services do. It is
// one suite of the calls that store, handler and internal/esm make. [Run] runs it on a
// [Harness]: the engine, an emulator, or the services themselves.
//
// A case states what the service does. If a backend is known to do something else, [Differences]
// lists that, with the source that shows which of the two is right. The case then asserts what that
// backend does. So an entry that is no longer true fails.
package contract
