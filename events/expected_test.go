package events_test

import (
	"slices"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// expected is events/expected.json: the expected result of each file. README.md explains its
// members.
type expected struct {
	Key   string         `json:"key"` // INGOT_PII_KEY
	Files []expectedFile `json:"files"`
}

type expectedFile struct {
	File     string            `json:"file"`
	Function string            `json:"function"` // ingest or streams
	Counting []string          `json:"counting,omitempty"`
	After    []string          `json:"after"`
	Messages []expectedMessage `json:"messages,omitempty"`
	Changes  []expectedChange  `json:"changes,omitempty"`
	Totals   []total           `json:"totals,omitempty"`
	Archived []expectedKey     `json:"archived,omitempty"`
	State    bool              `json:"state,omitempty"`
	// Exactly one of the two answers is present.
	BatchItemFailures []string `json:"batchItemFailures"`
	WholeBatchFails   bool     `json:"wholeBatchFails,omitempty"`
}

type expectedMessage struct {
	ID          string       `json:"id"`
	Verdict     string       `json:"verdict"`
	Reason      string       `json:"reason,omitempty"`
	Key         *expectedKey `json:"key,omitempty"`
	Quarantined bool         `json:"quarantined,omitempty"`
}

type expectedChange struct {
	Sequence string      `json:"sequence"`
	Outcome  outcome     `json:"outcome"`
	Key      expectedKey `json:"key"`
}

type expectedKey struct {
	PK string `json:"pk"`
	SK string `json:"sk"`
}

func expectations(t *testing.T, p *pipeline.Pipeline) expected {
	all := expected{Key: localKey()}
	for _, s := range ingestSamples() {
		all.Files = append(all.Files, s.expected())
	}
	for _, s := range streamSamples() {
		all.Files = append(all.Files, s.expected(t, p)...)
	}
	return all
}

func (s *ingestSample) expected() expectedFile {
	f := expectedFile{File: s.file, Function: "ingest", After: orNone(s.after), BatchItemFailures: []string{}}
	for i, m := range s.messages {
		e := expectedMessage{ID: messageID(s.file, i), Verdict: m.verdict.String(), Reason: string(m.reason),
			Quarantined: m.verdict.Quarantined() && !m.returned}
		if !m.key.IsZero() {
			e.Key = &expectedKey{m.key.PK, m.key.SK}
		}
		if m.returned {
			f.BatchItemFailures = append(f.BatchItemFailures, e.ID)
		}
		f.Messages = append(f.Messages, e)
	}
	return f
}

// expected returns one entry, or two if the ways of counting have different answers.
func (s *streamSample) expected(t *testing.T, p *pipeline.Pipeline) []expectedFile {
	var accepted []string
	for _, counting := range []string{marks, receipts} {
		if !slices.Contains(s.refused, counting) {
			accepted = append(accepted, counting)
		}
	}
	var entries []expectedFile
	if len(s.refused) > 0 {
		f := s.entry(t, p, s.refused)
		for i := range f.Changes {
			f.Changes[i].Outcome = refused
		}
		f.Totals, f.Archived, f.State, f.BatchItemFailures, f.WholeBatchFails = nil, nil, false, nil, true
		entries = append(entries, f)
	}
	if len(accepted) > 0 {
		entries = append(entries, s.entry(t, p, accepted))
	}
	return entries
}

func (s *streamSample) entry(t *testing.T, p *pipeline.Pipeline, counting []string) expectedFile {
	f := expectedFile{File: s.file, Function: "streams", Counting: counting, After: orNone(s.after), Totals: s.totals, State: s.shard != "",
		BatchItemFailures: []string{}}
	for _, r := range s.records {
		pic := r.new
		if pic == nil {
			pic = r.old
		}
		img := pic.image(t, p)
		pk, _ := img["PK"]["S"].(string)
		sk, _ := img["SK"]["S"].(string)
		f.Changes = append(f.Changes, expectedChange{r.sequence, r.outcome, expectedKey{pk, sk}})
	}
	for _, k := range s.archived {
		f.Archived = append(f.Archived, expectedKey{k.PK, k.SK})
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
