// Package stack creates the resources that template.yaml declares: tables with their indexes,
// stream and time to live, the three queues, and the archive bucket. [New] creates all of them on
// the embedded engine. [Table] and [Queue] create one resource with any client that has the SDK's
// methods, such as the client of an emulator. No other package creates these resources.
package stack
