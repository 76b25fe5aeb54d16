package propose

import (
	"errors"
	"fmt"
	"io"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
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
	events   []sampled
	bytes    int
	repeated int // events that occur earlier in the sample, word for word
	bad      int
	shown    []string // what is wrong with the first unusable lines
	cut      bool     // the file contains more than was read
}

// sampled is one event of the sample.
type sampled struct {
	line   int
	body   string // the whole message, on one line
	raw    bool   // a bare payload: nothing around it says its type, id and time
	opened envelope.Opened
}

// Read reads events from r, with one message body to a line, as its producer sends it. It skips
// empty lines. It reads at most 100,000 events or 64 MiB. It leaves out a line that is not an
// event, and [Sample.Unusable] names it. The error says that r cannot be read, or that it has no
// event at all.
func Read(r io.Reader) (*Sample, error) {
	s, seen, first := &Sample{}, map[event.Digest]bool{}, ""
	for line, err := range ndjson.Lines(r) {
		if errors.Is(err, ndjson.ErrTooLong) {
			err = fmt.Errorf("it is longer than %d bytes, and SQS takes at most 1 MiB", ndjson.MaxLine)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line.Number, err)
		}
		if len(s.events) == maxEvents || s.bytes+len(line.Text) > maxBytes {
			s.cut = true
			break
		}
		if first == "" {
			first = line.Text
		}
		s.add(line.Number, line.Text, seen)
	}
	if len(s.events) == 0 {
		return nil, fmt.Errorf("it holds no event: write one JSON object on each line%s%s", ndjson.Advice(first), s.firstReason())
	}
	return s, nil
}

func (s *Sample) add(number int, body string, seen map[event.Digest]bool) {
	opened, err := envelope.Open(envelope.Message{Body: body})
	if err != nil {
		s.leaveOut(number, err)
		return
	}
	if opened.Data.Root().Kind() != event.Object {
		s.leaveOut(number, errors.New("its payload is not a JSON object"))
		return
	}
	// The envelope's id is not used, because a producer that sends an event again often gives it a
	// new id.
	digest := keys.Digest(opened.Type, opened.Data.Root(), nil)
	if seen[digest] {
		s.repeated++
		return
	}
	seen[digest] = true
	s.bytes += len(body)
	s.events = append(s.events, sampled{line: number, body: body, raw: opened.Kind.Form == envelope.Raw, opened: opened})
}

func (s *Sample) leaveOut(number int, err error) {
	if s.bad++; len(s.shown) < maxShown {
		reason := err.Error()
		var refusal *event.Refusal
		if errors.As(err, &refusal) {
			reason = refusal.Detail
		}
		s.shown = append(s.shown, fmt.Sprintf("line %d: %s", number, reason))
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
