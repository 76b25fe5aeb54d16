// Package tool has what the commands of ingot are made of, apart from their flags. Each folder is a
// command or what several commands share.
//
// May import: everything except prove and cmd.
//
// Never knows: flags, which cmd/ingot knows. No function that is deployed contains any of it.
package tool
