// Package lanes is the arithmetic that counts changes into aggregate items exactly once: where the items live ([Key]),
// what a batch of one stream shard does to each of them ([Batch], [Update], folded into a [Delta]), and which lane and
// mark ([LaneID], [Mark]) prove that it was counted.
//
// It is pure: no clock, no I/O, no AWS. The store turns a Delta into one conditional write.
package lanes
