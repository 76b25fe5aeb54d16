package events_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/samples"
	"github.com/ingot-events/ingot/pipeline"
)

func expectations(t *testing.T, p *pipeline.Pipeline) samples.Expected {
	all := samples.Expected{Key: localKey()}
	for _, s := range ingestSamples() {
		all.Files = append(all.Files, s.expected())
	}
	for _, s := range streamSamples() {
		all.Files = append(all.Files, s.expected(t, p)...)
	}
	return all
}

func (s *ingestSample) expected() *samples.File {
	f := &samples.File{File: s.file, Function: "ingest", After: orNone(s.after), BatchItemFailures: []string{}}
	for i, m := range s.messages {
		e := samples.Message{ID: messageID(s.file, i), Verdict: m.verdict.String(), Reason: string(m.reason),
			Quarantined: m.verdict.Quarantined() && !m.returned}
		if !m.key.IsZero() {
			e.Key = &samples.Key{PK: m.key.PK, SK: m.key.SK}
		}
		if m.returned {
			f.BatchItemFailures = append(f.BatchItemFailures, e.ID)
		}
		f.Messages = append(f.Messages, e)
	}
	return f
}

// expected returns one entry, or two if the ways of counting have different answers.
func (s *streamSample) expected(t *testing.T, p *pipeline.Pipeline) []*samples.File {
	var accepted []string
	for _, counting := range []string{marks, receipts} {
		if !slices.Contains(s.refused, counting) {
			accepted = append(accepted, counting)
		}
	}
	var entries []*samples.File
	if len(s.refused) > 0 {
		f := s.entry(t, p, s.refused)
		for i := range f.Changes {
			f.Changes[i].Outcome = string(refused)
		}
		f.Totals, f.Archived, f.State, f.BatchItemFailures, f.WholeBatchFails = nil, nil, false, nil, true
		entries = append(entries, f)
	}
	if len(accepted) > 0 {
		entries = append(entries, s.entry(t, p, accepted))
	}
	return entries
}

func (s *streamSample) entry(t *testing.T, p *pipeline.Pipeline, counting []string) *samples.File {
	f := &samples.File{File: s.file, Function: "streams", Counting: counting, After: orNone(s.after), Totals: s.totals,
		State: s.shard != "", BatchItemFailures: []string{}}
	for _, r := range s.records {
		img := cmp.Or(r.new, r.old).image(t, p)
		pk, _ := img["PK"]["S"].(string)
		sk, _ := img["SK"]["S"].(string)
		f.Changes = append(f.Changes, samples.Change{Sequence: r.sequence, Outcome: string(r.outcome), Key: samples.Key{PK: pk, SK: sk}})
	}
	for _, k := range s.archived {
		f.Archived = append(f.Archived, samples.Key{PK: k.PK, SK: k.SK})
	}
	return f
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

// envelope returns the message as the ingest function passes it to the pipeline.
func (m *message) envelope() envelope.Message {
	e := envelope.Message{Body: m.body, Attributes: map[string]string{}}
	for _, a := range m.attributes {
		if a.kind != "Binary" {
			e.Attributes[a.name] = a.value
		}
	}
	return e
}

// planned returns those of the sample's messages that the pipeline plans, with their items. The
// pipeline must refuse the others for the stated reason.
func planned(t *testing.T, p *pipeline.Pipeline, s *ingestSample) map[int]*event.Item {
	items := map[int]*event.Item{}
	for i := range s.messages {
		m := &s.messages[i]
		item, err := p.Plan(m.envelope())
		if m.verdict == event.Poison {
			checkRefusal(t, s.file, i, err, m.reason)
			continue
		}
		if err != nil {
			t.Errorf("%s: message %d: %v", s.file, i, err)
			continue
		}
		must.Equal(t, item.Key, m.key, s.file, i)
		items[i] = item
	}
	return items
}
