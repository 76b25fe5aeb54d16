package demo

import (
	"iter"
	"os"
)

// File returns the user's own events from the file of that name, which has one JSON document on
// each line. title is the name that the user gave. The file is read again for every copy, and is
// never in memory as a whole. A line is a message, which gets the given attributes, or a batch,
// whose messages have their own.
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
				defer func() { _ = f.Close() }() // it was only read, so nothing can be lost
				unpacked(readLines(f), attributes)(yield)
			}
		},
	}
}
