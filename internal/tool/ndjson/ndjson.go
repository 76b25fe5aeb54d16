// Package ndjson reads files with one JSON value to a line. [Lines] returns the lines one by one
// and never holds more than one. It does not read the JSON itself.
package ndjson

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
)

// MaxLine is the longest line that is read, in bytes. It is the size of the largest message that
// SQS accepts (1 MiB), with room for white space around it.
const MaxLine = 2 << 20

// ErrTooLong is the error for a line that is longer than [MaxLine]. The lines after it are still
// read.
var ErrTooLong = fmt.Errorf("the line is longer than %d bytes, and SQS takes at most 1 MiB", MaxLine)

// Line is one line that is not empty.
type Line struct {
	Number int    // from 1; empty lines count as well
	Text   string // without white space around it
}

// Lines yields the lines of r that are not empty. It removes a byte order mark before the first
// line. The error is [ErrTooLong], after which more lines follow, or it says that r cannot be read,
// and then nothing follows.
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

// Unfinished reports whether a line is only the beginning of a JSON object or array, as in a file
// whose JSON is spread over several lines.
func Unfinished(line string) bool {
	if !strings.HasPrefix(line, "{") && !strings.HasPrefix(line, "[") {
		return false
	}
	var value json.RawMessage
	err := json.NewDecoder(strings.NewReader(line)).Decode(&value)
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// Advice says how to make a file with one event on each line of one that has none, judged by its
// first line. It follows a sentence that asks for such a file, and is empty if the line suggests
// nothing.
func Advice(first string) string {
	switch {
	case strings.HasPrefix(first, "["):
		return "; jq -c '.[]' makes that of an array"
	case Unfinished(first):
		return "; jq -c . makes that of JSON over several lines"
	}
	return ""
}

// line reads one line with its end. If the line is too long, line keeps nothing of it.
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
