package show

import (
	"fmt"
	"io"
	"time"
)

// mostShown is how many lines of one kind are printed.
const mostShown = 100

// Some prints one line for each entry, and how many more there are.
func Some[T any](w io.Writer, list []T, line func(T) string) {
	for i, one := range list {
		if i == mostShown {
			fmt.Fprintf(w, "… and %s more; --output json lists them\n", Comma(len(list)-i))
			return
		}
		fmt.Fprintln(w, Text(line(one)))
	}
}

// Start writes the start of a window. It is empty if there is none.
func Start(window time.Time) string {
	if window.IsZero() {
		return ""
	}
	return window.Format(time.RFC3339)
}
