package demo

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

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

// unpacked returns the messages of each line. A line may also be a batch in a form that explain
// takes: the JSON of Lambda or of aws sqs receive-message, whose messages have their own
// attributes. All other messages get the given attributes.
func unpacked(lines iter.Seq2[Line, error], attributes map[string]string) iter.Seq2[Line, error] {
	return func(yield func(Line, error) bool) {
		for line, err := range lines {
			line.Attributes = attributes
			if err != nil || !strings.Contains(line.Body, `"Records"`) && !strings.Contains(line.Body, `"Messages"`) {
				if !yield(line, err) {
					return
				}
				continue
			}
			list, batch, err := explain.Messages(line.Body)
			if err == nil && batch && len(attributes) > 0 {
				err = errors.New("it is a batch, whose messages have attributes of their own; leave out --attribute")
			}
			if err != nil || !batch {
				if !yield(line, err) {
					return
				}
				continue
			}
			for _, m := range list {
				if !yield(Line{line.Number, m.Message}, nil) {
					return
				}
			}
		}
	}
}
