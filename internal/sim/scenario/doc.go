// Package scenario runs situations that are written down as text: what a producer, the queue, the
// two functions, the stream and people do, and under each step what was seen. The files are
// ../testdata/*.txt, and they are meant to be read: first_steps.txt is the place to begin.
//
// Everything between the steps is real: both handlers, the store, the embedded engine and the event
// source mappings. Only the clock, chance and trouble are the script's. A script says where a
// request is refused, where its answer is lost, where a function dies or freezes; the same script
// always shows the same output.
package scenario
