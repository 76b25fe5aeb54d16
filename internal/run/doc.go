// Package run has what both functions are started with: settings, clients and metrics.
//
// May import: everything up to handler.
//
// Never knows: the tool, the simulation, or how a batch is processed.
package run
