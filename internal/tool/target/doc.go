// Package target finds the stack that a command of the tool works on: one on AWS by its name, an
// `ingot dev` on this machine, or the tables that the INGOT_* variables name. [Find] does that, in
// the same way for every command. The [Target] that it returns makes the clients.
//
// Find sends one request, to learn that the stack exists and which account it is in. It changes
// nothing.
package target
