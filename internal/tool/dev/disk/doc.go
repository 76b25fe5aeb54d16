// Package disk keeps what the engine of `ingot dev` holds in a folder, so that it outlives the
// process: also one that is killed, but not a machine that loses its power. [Open] opens the
// folder.
//
// All changes go through one queue. While one transaction is being written, the changes of many
// calls gather for the next one.
package disk
