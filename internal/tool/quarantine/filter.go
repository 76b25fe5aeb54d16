package quarantine

import (
	"slices"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
)

// Filter chooses letters. A letter must have all that a filter names. The zero Filter chooses every
// letter.
type Filter struct {
	Verdict string // as the note has it; a letter without a note has none
	Reason  string // likewise
	Type    string // the type of the event, or of one of those that are sent again; also one that the pipeline does not have
	Key     string // a partition key, or both keys as [event.Key.String] writes them
	// Pipeline finds the type and the key. It is needed if the filter names one of them.
	Pipeline *pipeline.Pipeline
}

// Chooses reports whether the filter chooses a letter.
func (f Filter) Chooses(l *Letter) bool {
	verdict, reason := "", ""
	if l.Note != nil {
		verdict, reason = l.Note.Verdict, l.Note.Reason
	}
	return (f.Verdict == "" || f.Verdict == verdict) &&
		(f.Reason == "" || f.Reason == reason) &&
		(f.Type == "" || slices.Contains(l.types(f.Pipeline), f.Type)) &&
		(f.Key == "" || l.has(f.Pipeline, l.Message(), func(key event.Key) bool { return key.PK == f.Key || key.String() == f.Key }))
}

// Has reports whether the message, or one of its events, has this key today, or had it when it came
// to quarantine.
func (l *Letter) Has(p *pipeline.Pipeline, key event.Key) bool {
	return l.has(p, l.whole(), func(one event.Key) bool { return one == key })
}

// has reports whether a key of m, which is the letter's message or a part of it, is the one that is
// meant.
func (l *Letter) has(p *pipeline.Pipeline, m envelope.Message, meant func(event.Key) bool) bool {
	if l.Note != nil && l.Note.PK != "" && meant(event.Key{PK: l.Note.PK, SK: l.Note.SK}) {
		return true
	}
	return !l.OfStream() && slices.ContainsFunc(planned(p, m), func(one pipeline.Planned) bool { return one.Item != nil && meant(one.Item.Key) })
}

// types returns the types of the events that are sent again.
func (l *Letter) types(p *pipeline.Pipeline) (names []string) {
	if l.OfStream() {
		return nil
	}
	for _, one := range planned(p, l.Message()) {
		switch {
		case one.Item != nil:
			names = append(names, one.Item.Type)
		case one.Refusal.Type != "":
			names = append(names, one.Refusal.Type)
		}
	}
	return names
}

// planned returns the result for each event of a message.
func planned(p *pipeline.Pipeline, m envelope.Message) []pipeline.Planned {
	item, list, err := p.PlanMessage(m)
	if list == nil {
		return []pipeline.Planned{{Item: item, Refusal: event.RefusalOf(err)}}
	}
	return list
}
