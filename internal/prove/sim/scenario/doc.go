// Package scenario runs situations that are written down as text. A script says what a producer,
// the queue, the two functions, the stream and people do, and shows under each step what was seen.
// The scripts are ../testdata/*.txt. They are meant to be read: begin with first_steps.txt. [Run]
// plays one.
//
// Everything between the steps is real: both handlers, the store, the embedded engine and the event
// source mappings. Only the clock, chance and trouble belong to the script. A script says where a
// request is refused, where its answer is lost, and where a function dies or freezes. The same
// script always shows the same output.
package scenario
