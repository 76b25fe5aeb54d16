// Package kit has what tests share: a clock that can be set ahead, the sample shop, fuzz inputs,
// golden files, random seeds, what must succeed or fail, and which tests are slow.
//
// May import: nothing of Ingot.
//
// Never knows: what is tested with it. Nothing but tests imports it, apart from the commands that
// replay worlds.
package kit
