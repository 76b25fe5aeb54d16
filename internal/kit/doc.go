// Package kit has what tests share: a clock that can be set ahead, the sample shop, fuzz inputs,
// golden files, random seeds, which tests are slow, and how the advice of a message is followed.
//
// May import: nothing of Ingot. kit/advice alone also imports internal/plan/yamlfile.
//
// Never knows: what is tested with it. Nothing but tests imports it, apart from the commands that
// replay worlds.
package kit
