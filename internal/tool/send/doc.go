// Package send sends events to a queue, in batches and at a rate, and waits until they are stored.
// It says how many of the lines are sent for certain, so that sending can go on there.
package send
