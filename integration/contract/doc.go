// Package contract holds the engine in internal/embedded to what the services do: one suite of the calls that
// store, handler and internal/lambda/esm make, run against the engine, an emulator, or the services themselves.
//
// A case states what the service does. Where a backend is known to do otherwise, the difference is listed in
// Differences, with the source that shows which of the two is right, and the case then asserts what that
// backend does: an entry that is no longer true fails.
package contract
