package quarantine

import (
	"regexp"
	"slices"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
)

// Filter chooses letters. A letter must have all that a filter names. The zero Filter chooses every
// letter.
type Filter struct {
	Verdict string // as the note has it; a letter without a note has none
	Reason  string // likewise, or with its field, as [Reason] writes it
	Type    string // the type of the event, or of one of those that are sent again; also one that the pipeline does not have
	Key     string // a partition key, or both keys as [event.Key.String] writes them
	// Pipeline finds the type and the key. It is needed if the filter names one of them.
	Pipeline *pipeline.Pipeline
}

// Chooses reports whether the filter chooses a letter.
func (f Filter) Chooses(l *Letter) bool {
	verdict, reason, full := "", "", ""
	if l.Note != nil {
		verdict, reason, full = l.Note.Verdict, l.Note.Reason, Reason(l.Note.Reason, l.Note.Detail)
	}
	return (f.Verdict == "" || f.Verdict == verdict) &&
		(f.Reason == "" || f.Reason == reason || f.Reason == full) &&
		(f.Type == "" || slices.Contains(l.types(f.Pipeline), f.Type)) &&
		(f.Key == "" || slices.ContainsFunc(l.keysOf(f.Pipeline, l.Message()), func(key event.Key) bool {
			return key.PK == f.Key || key.String() == f.Key
		}))
}

// named finds the first field that a detail names, unless a quoted text stands before it.
var named = regexp.MustCompile(`^[^"]*?\bfield ((?:\[[^\]]*\]|[^\s:\[])+)`)

// Reason returns a reason and, behind a colon, the field that its detail is about, such as
// missing-field:currency. A reason that is about no field stays as it is.
func Reason(reason, detail string) string {
	switch event.Reason(reason) {
	case event.MissingField, event.WrongType, event.BadTime, event.NumberOutOfRange, event.ValueTooLong:
		if found := named.FindStringSubmatch(detail); found != nil {
			return reason + ":" + found[1]
		}
	}
	return reason
}

// Keys returns the keys that the message, its events and their parts have today, and the one that
// it had when it came to quarantine.
func (l *Letter) Keys(p *pipeline.Pipeline) []event.Key { return l.keysOf(p, l.whole()) }

// keysOf does what Keys does for m, which is the letter's message or a part of it.
func (l *Letter) keysOf(p *pipeline.Pipeline, m envelope.Message) (list []event.Key) {
	if l.Note != nil && l.Note.PK != "" {
		list = append(list, event.Key{PK: l.Note.PK, SK: l.Note.SK})
	}
	if l.OfStream() {
		return list
	}
	for _, one := range p.PlanEach(m) {
		switch {
		case one.Item == nil && one.Refusal.Key.PK != "":
			list = append(list, one.Refusal.Key)
		case one.Item != nil:
			for _, item := range one.Item.All() {
				list = append(list, item.Key)
			}
		}
	}
	return list
}

// types returns the types of the events that are sent again.
func (l *Letter) types(p *pipeline.Pipeline) (names []string) {
	if l.OfStream() {
		return nil
	}
	for _, one := range p.PlanEach(l.Message()) {
		switch {
		case one.Item != nil:
			names = append(names, one.Item.Type)
		case one.Refusal.Type != "":
			names = append(names, one.Refusal.Type)
		}
	}
	return names
}
