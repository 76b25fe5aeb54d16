// Package lanes has the arithmetic for counting changes into aggregate items exactly once. [Key]
// says where the items are stored. A [Batch] says what the changes of one stream shard do to each
// item: it has an [Update] for each, which folds into a [Delta]. [LaneID] and [Mark] name the lane
// and the mark that prove that a change was counted.
//
// The package is pure: it has no clock, no I/O and no AWS. The store turns a Delta into one
// conditional write.
package lanes
