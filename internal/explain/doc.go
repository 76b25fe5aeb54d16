// Package explain works out what becomes of a message and why: envelope, type, id, time, keys, digest, the item
// and its cost, the totals it moves; or why it would be quarantined. It sends no request: what is stored already
// it cannot know.
package explain
