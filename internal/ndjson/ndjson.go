// Package ndjson reads files of one JSON value a line. [Lines] gives the lines one by one and never holds more than
// one. What a line means is not its business.
package ndjson

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// MaxLine is the longest line that is read, in bytes: the largest message that SQS takes (1 MiB) with room for white
// space around it.
const MaxLine = 2 << 20

// ErrTooLong is the error of a line that is longer than MaxLine. The lines after it follow.
var ErrTooLong = fmt.Errorf("the line is longer than %d bytes, and SQS takes at most 1 MiB", MaxLine)

// Line is one line that is not empty.
type Line struct {
	Number int    // from 1; empty lines count
	Text   string // without white space around it
}

// Lines gives the lines of r that are not empty, without a byte order mark before the first. The error is ErrTooLong,
// after which more lines follow, or says that r cannot be read, which is the end.
func Lines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			text, long, err := line(in)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Line{Number: number}, err)
				return
			}
			if number == 1 {
				text = strings.TrimPrefix(text, "\ufeff")
			}
			var fault error
			if text = strings.TrimSpace(text); long {
				text, fault = "", ErrTooLong
			}
			if (text != "" || long) && !yield(Line{number, text}, fault) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// line reads one line with its end. Of one that is too long nothing is kept.
func line(in *bufio.Reader) (text string, long bool, err error) {
	var b strings.Builder
	for {
		piece, err := in.ReadSlice('\n')
		if long = long || b.Len()+len(piece) > MaxLine; long {
			b.Reset()
		} else {
			b.Write(piece)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.String(), long, err
		}
	}
}
