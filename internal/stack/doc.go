// Package stack makes what template.yaml declares in an account: tables with their indexes, stream
// and time to live, the three queues, and the archive bucket. [New] makes all of it on the embedded
// engine. [Table] and [Queue] make one thing on any client with the SDK's methods, including that
// of an emulator. No other package makes any of these.
package stack
