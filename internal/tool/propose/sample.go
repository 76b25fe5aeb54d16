package propose

import (
	"errors"
	"fmt"
	"io"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/keys"
)

// These bounds limit what is read of a sample, so that the file may have any size.
const (
	maxEvents = 100_000
	maxBytes  = 64 << 20
	// maxShown is how many of the unusable lines are named.
	maxShown = 10
)

// Sample is a set of events that was read from a file.
type Sample struct {
	lines    []message
	batches  []envelope.Batch
	events   []sampled
	repeated int // events that occur earlier in the sample, word for word
	bad      int
	shown    []string // what is wrong with the first unusable lines
	cut      bool     // the file contains more than was read
}

// message is one line.
type message struct {
	line int
	text string
}

// sampled is one event of the sample.
type sampled struct {
	message
	raw    bool // a bare payload: nothing around it says its type, id and time
	opened envelope.Opened
}

// Read reads events from r, with one message body to a line, as its producer sends it. It skips
// empty lines. It reads at most 100,000 events or 64 MiB. It leaves out a line that is not an
// event, and [Sample.Unusable] names it. The error says that r cannot be read, or that it has no
// event at all.
func Read(r io.Reader) (*Sample, error) {
	s, bytes := &Sample{}, 0
	for line, err := range ndjson.Lines(r) {
		if errors.Is(err, ndjson.ErrTooLong) {
			err = fmt.Errorf("it is longer than %d bytes, and SQS takes at most 1 MiB", ndjson.MaxLine)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line.Number, err)
		}
		if bytes += len(line.Text); len(s.lines) == maxEvents || bytes > maxBytes {
			s.cut = true
			break
		}
		s.lines = append(s.lines, message{line.Number, line.Text})
	}
	s.batches = places(s.lines)
	if s.open(); len(s.events) == 0 {
		advice := ""
		if len(s.lines) > 0 {
			advice = ndjson.Advice(s.lines[0].text)
		}
		return nil, fmt.Errorf("it holds no event: write one JSON object on each line%s%s", advice, s.firstReason())
	}
	return s, nil
}

// open reads the events of the lines.
func (s *Sample) open() {
	s.events, s.repeated, s.bad, s.shown = nil, 0, 0, nil
	seen := map[event.Digest]bool{}
	for _, line := range s.lines {
		opened, elements, err := envelope.OpenAll(envelope.Message{Body: line.text}, s.batches)
		for _, element := range elements {
			opened, err := envelope.Open(element)
			s.add(line, opened, err, seen)
		}
		if elements == nil {
			s.add(line, opened, err, seen)
		}
	}
}

func (s *Sample) add(line message, opened envelope.Opened, err error, seen map[event.Digest]bool) {
	if err == nil && opened.Data.Root().Kind() != event.Object {
		err = errors.New("its payload is not a JSON object")
	}
	if err != nil {
		s.leaveOut(line.line, err)
		return
	}
	digest := keys.Digest(opened.Type+"\x00"+opened.ID, opened.Data.Root(), nil)
	if seen[digest] {
		s.repeated++
		return
	}
	seen[digest] = true
	s.events = append(s.events, sampled{message: line, raw: opened.Kind.Form == envelope.Raw, opened: opened})
}

func (s *Sample) leaveOut(number int, err error) {
	if s.bad++; len(s.shown) < maxShown {
		s.shown = append(s.shown, fmt.Sprintf("line %d: %s", number, show.Refusal(err)))
	}
}

func (s *Sample) firstReason() string {
	if len(s.shown) == 0 {
		return ""
	}
	return " (" + s.shown[0] + ")"
}

// Unusable returns how many lines are not events, and what is wrong with the first ten of them.
func (s *Sample) Unusable() (count int, first []string) { return s.bad, s.shown }
