package demo

import (
	"iter"
	"os"
)

// File is the user's own events, one JSON document a line. It is read anew for every copy and never held.
func File(name string) Data {
	return Data{
		Name:  "events",
		File:  name,
		About: name + ", in the order of the file",
		Lines: func() iter.Seq2[Line, error] {
			return func(yield func(Line, error) bool) {
				f, err := os.Open(name)
				if err != nil {
					yield(Line{}, err)
					return
				}
				defer func() { _ = f.Close() }() // read only: nothing can be lost
				readLines(f)(yield)
			}
		},
	}
}
