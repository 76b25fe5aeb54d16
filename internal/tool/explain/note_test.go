package explain

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// kept is a quarantine in memory.
type kept struct{ letters []quarantine.Letter }

func (k *kept) Send(_ context.Context, letters []quarantine.Letter) []error {
	k.letters = append(k.letters, letters...)
	return make([]error, len(letters))
}

// received returns what aws sqs receive-message prints for the letters.
func (k *kept) received(t *testing.T) []Message {
	t.Helper()
	type value struct{ StringValue, DataType *string }
	type received struct {
		MessageId, ReceiptHandle, Body string
		MessageAttributes              map[string]value
	}
	var out struct{ Messages []received }
	for _, l := range k.letters {
		m := received{"m", "r", l.Body, map[string]value{}}
		for name, a := range l.Attributes {
			m.MessageAttributes[name] = value{a.StringValue, a.DataType}
		}
		out.Messages = append(out.Messages, m)
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	list, batch, err := Messages(string(text))
	if err != nil || !batch || len(list) != len(k.letters) {
		t.Fatalf("%d messages of %d letters, batch %v, %v", len(list), len(k.letters), batch, err)
	}
	return list
}

// The functions themselves write these letters, from the samples.
func TestLetters(t *testing.T) {
	e := explainer(t, aggregate.Marks)
	engine := embedded.New(embedded.Config{Partitions: 1})
	s, err := stack.New(t.Context(), engine, stack.Config{Indexes: e.Pipeline.Indexes()})
	if err != nil {
		t.Fatal(err)
	}
	c := tables.Config{Client: engine.DynamoDB(), Pipeline: e.Pipeline, Events: stack.Events, Aggregates: stack.Aggregates,
		Env: env.Env{Now: func() time.Time { return e.Now }}}
	ingest, err := handler.NewIngest(c)
	if err != nil {
		t.Fatal(err)
	}
	streams, err := handler.NewStreams(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := streams.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file, note, again, because, verdict string
	}{
		{"ingest-conflict.json", "Conflict (digest-differs)", "a Conflict, as long as its key holds something else", "they differ in",
			"Inserted"},
		{"ingest-unknown-type.json", "Poison (unknown-type)", "Poison (unknown-type): quarantined", "the nearest is order.placed",
			"Poison"},
		{"ingest-expired.json", "Expired (past-expiry)", "Expired (past-expiry): quarantined", "", "Expired"},
		{"streams-undecodable.json", "Poison (undecodable-record)", "never", ofStreamDetail, "Poison"},
	} {
		t.Run(c.file, func(t *testing.T) {
			text, err := os.ReadFile("../../../events/" + c.file)
			if err != nil {
				t.Fatal(err)
			}
			q := &kept{}
			if strings.HasPrefix(c.file, "streams") {
				streams.Quarantine = q
				_, err = streams.Handle(t.Context(), text)
			} else {
				var batch events.SQSEvent
				if err := json.Unmarshal(text, &batch); err != nil {
					t.Fatal(err)
				}
				ingest.Quarantine = q
				_, err = ingest.Handle(t.Context(), batch)
			}
			if err != nil || len(q.letters) != 1 {
				t.Fatalf("%d letters, %v, of %s", len(q.letters), err, s.Queue)
			}
			list := q.received(t)
			before := list[0].Attributes[quarantine.Attribute]
			r := e.Explain(list)
			var b strings.Builder
			if err := r.WriteText(&b); err != nil {
				t.Fatal(err)
			}
			first, again, _ := strings.Cut(b.String(), "sent again")
			if !strings.Contains(first, "quarantined") || !strings.Contains(first, c.note) || !strings.Contains(b.String(), c.because) ||
				!strings.HasPrefix(strings.TrimSpace(again), c.again) || strings.Contains(b.String(), "verdict") {
				t.Errorf("it says\n%s", &b)
			}
			x := r.Messages[0]
			if !r.Quarantined() || x.Quarantined == nil || x.Quarantined.Verdict+" ("+x.Quarantined.Reason+")" != c.note ||
				x.Quarantined.Detail == "" || x.Verdict != c.verdict {
				t.Errorf("%+v of %+v", x.Quarantined, x)
			}
			if list[0].Attributes[quarantine.Attribute] != before || before == "" {
				t.Error("the message was changed")
			}
		})
	}
}

// If a producer writes an attribute ingot of its own, it is not a note.
func TestProducersOwnAttributeIsNoNote(t *testing.T) {
	e := explainer(t, aggregate.Marks)
	for _, value := range []string{"", "x", "{}", `{"verdict":"Poison"}`, `{"verdict":"Poison","reason":"r"} `,
		`{"verdict":"Inserted","reason":"r"}`, `{"verdict":"Poison","reason":"r","more":1}`} {
		m := messagesOf(t, "ingest-one.json")[0]
		m.Attributes = map[string]string{quarantine.Attribute: value}
		if r := e.Explain([]Message{m}); r.Quarantined() || r.Messages[0].Quarantined != nil {
			t.Errorf("%q is taken for a note: %+v", value, r.Messages[0].Quarantined)
		}
	}
}

// An Expired message says where its item would be in the archive, even if its retain has become
// longer since then. It does not say so if its key would be a hash made with the stand-in key.
func TestArchiveOfAnExpiredMessage(t *testing.T) {
	load := func(pk, retain string) *pipeline.Pipeline {
		t.Helper()
		text := "ingot: 1\nepoch: 1\ntype: visit\nevents:\n  visit:\n    id: \"{n}\"\n    at: \"{t}\"\n    key: {pk: \"V#" + pk +
			"\", sk: \"-\"}\n    retain: " + retain + "\n"
		p, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(text)}}, "p.yaml", pipeline.Secret([]byte(StandIn)))
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const note = `{"verdict":"Expired","reason":"past-expiry","detail":"d","pk":"V#1","sk":"-"}`
	for _, c := range []struct {
		name, pk, retain, note string
		standIn, want          bool
	}{
		{"past its time", "{n}", "10d", "", false, true},
		{"in quarantine, and retain is longer now", "{n}", "4000d", note, false, true},
		{"in time", "{n}", "4000d", "", false, false},
		{"a hash of the real key", "{n | hmac}", "10d", "", false, true},
		{"a hash of the stand-in", "{n | hmac}", "10d", "", true, false},
	} {
		e := explainer(t, aggregate.Marks)
		e.Pipeline, e.StandInKey = load(c.pk, c.retain), c.standIn
		m := Message{Message: envelope.Message{Body: `{"n":"1","t":"2099-01-01T00:00:00Z"}`}}
		if c.note != "" {
			m.Attributes = map[string]string{quarantine.Attribute: c.note}
		}
		item, err := e.Pipeline.Plan(envelope.Message{Body: m.Body})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		if c.want {
			want = "ingot archive find " + show.Quoted(item.Key.PK) + " -"
		}
		r := e.Explain([]Message{m})
		var b strings.Builder
		if err := r.WriteText(&b); err != nil {
			t.Fatal(err)
		}
		if x := r.Messages[0]; x.Archive != want || strings.Contains(b.String(), "if that finds it") != c.want {
			t.Errorf("%s: %q, want %q, in\n%s", c.name, x.Archive, want, &b)
		}
	}
}
