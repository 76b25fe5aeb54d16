// Package explain computes what would happen to a message, and why. [Messages] reads messages from
// a file, and [Explainer.Explain] returns a [Report] about them: envelope, type, id, time, keys,
// digest, the item and its cost, and the totals that it changes, or else why the message would be
// quarantined. The package sends no request, so it does not know what is already stored.
package explain
