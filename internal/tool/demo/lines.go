package demo

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/tool/explain"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
)

// readLines returns the lines that are not blank, each as one message. If an error has the number
// of a line, the line is wrong, and the next lines follow. If it has no number, the data could not
// be read.
func readLines(r io.Reader) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range ndjson.Lines(r) {
			out := Line{Number: line.Number, Message: envelope.Message{Body: line.Text}}
			switch {
			case errors.Is(err, ndjson.ErrTooLong):
				err = fmt.Errorf("it has more than %d bytes, and no message can be that long", ndjson.MaxLine)
			case err != nil:
				out = Line{}
			}
			if !yield(out, err) {
				return
			}
		}
	}
}

// unpacked returns the messages of each line, which is a message or a batch: see [explain.OfLine].
func unpacked(lines iter.Seq2[Line, error], attributes map[string]string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range lines {
			line.Attributes = attributes
			var list []envelope.Message
			if err == nil {
				list, err = explain.OfLine(line.Body, attributes)
			}
			if err != nil {
				if !yield(line, err) {
					return
				}
				continue
			}
			for _, m := range list {
				if !yield(Line{line.Number, m}, nil) {
					return
				}
			}
		}
	}
}
