package demo

import (
	"iter"
	"os"
)

// File is the user's own events, one JSON document a line, in the file of that name; title is what the user calls it.
// It is read anew for every copy and never held. Its lines are messages with the attributes given, or batches whose
// messages have their own.
func File(name, title string, attributes map[string]string) Data {
	return Data{
		Name:  "events",
		File:  title,
		About: title + ", in the order of the file",
		Lines: func() iter.Seq2[Line, error] {
			return func(yield func(Line, error) bool) {
				f, err := os.Open(name)
				if err != nil {
					yield(Line{}, err)
					return
				}
				defer func() { _ = f.Close() }() // read only: nothing can be lost
				unpacked(readLines(f), attributes)(yield)
			}
		},
	}
}
