package explain

import (
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// The functions themselves write these letters, from the samples.
func TestLetters(t *testing.T) {
	e := explainer(t, aggregate.Marks)
	w, st := worldOf(t, e)
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
			batch := must.Read(t, "../../../events/"+c.file)
			function := lambda.NewHandler(w.Ingest(st).Handle)
			if strings.HasPrefix(c.file, "streams") {
				function = lambda.NewHandler(w.Streams(st).Handle)
			}
			_, err := function.Invoke(t.Context(), batch)
			must.Succeed(t, err)
			out, err := w.Engine.SQS().ReceiveMessage(t.Context(),
				&sqs.ReceiveMessageInput{QueueUrl: &w.Quarantine, MessageAttributeNames: []string{"All"}})
			if err != nil || len(out.Messages) != 1 {
				t.Fatalf("%+v, %v", out, err)
			}
			note := aws.ToString(out.Messages[0].MessageAttributes[quarantine.Attribute].StringValue)
			m := Message{Message: envelope.Message{Body: *out.Messages[0].Body, Attributes: map[string]string{quarantine.Attribute: note}}}
			r := e.Explain([]Message{m})
			said := text(t, r)
			first, again, _ := strings.Cut(said, "sent again")
			if !strings.Contains(first, "quarantined") || !strings.Contains(first, c.note) || !strings.Contains(said, c.because) ||
				!strings.HasPrefix(strings.TrimSpace(again), c.again) || strings.Contains(said, "verdict") {
				t.Errorf("it says\n%s", said)
			}
			x := r.Messages[0]
			if !r.Quarantined() || x.Quarantined == nil || x.Quarantined.Verdict+" ("+x.Quarantined.Reason+")" != c.note ||
				x.Quarantined.Detail == "" || x.Verdict != c.verdict {
				t.Errorf("%+v of %+v", x.Quarantined, x)
			}
			if m.Attributes[quarantine.Attribute] != note || note == "" {
				t.Error("the message was changed")
			}
		})
	}
}

// A trace is shown: that of the message, of SQS, or of the note.
func TestTraceIsShown(t *testing.T) {
	const parent, header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Root=1-5759e988-bd862e3fe1be46a994272793"
	const note = `"messageAttributes":{"ingot":{"stringValue":"{\"verdict\":\"Poison\",\"reason\":\"schema\",\"trace\":\"` +
		parent + `\"}"}}`
	e := explainer(t, aggregate.Marks)
	for record, want := range map[string]string{
		`"messageAttributes":{"traceparent":{"stringValue":"` + parent + `"}}`: parent,
		`"attributes":{"AWSTraceHeader":"` + header + `"}`:                     header,
		note: parent, `"attributes":{}`: "",
	} {
		list, _, err := Messages(`{"Records":[{"eventSource":"aws:sqs","messageId":"1","body":"{}",` + record + `}]}`)
		must.Succeed(t, err)
		r := e.Explain(list)
		must.Equal(t, r.Messages[0].Trace, want, record)
		must.Equal(t, strings.Contains(text(t, r), "trace "), want != "", record)
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
		e := of(t, "ingot: 1\nepoch: 1\ntype: visit\nevents:\n  visit:\n    id: \"{n}\"\n    at: \"{t}\"\n    key: {pk: \"V#"+c.pk+
			"\", sk: \"-\"}\n    retain: "+c.retain+"\n")
		e.StandInKey = c.standIn
		m := body(`{"n":"1","t":"2026-01-01T00:00:00Z"}`)
		if c.note != "" {
			m.Attributes = map[string]string{quarantine.Attribute: c.note}
		}
		item, err := e.Pipeline.Plan(body(m.Body).Message)
		must.Succeed(t, err)
		want := ""
		if c.want {
			want = "ingot archive find " + show.Quoted(item.Key.PK) + " -"
		}
		r := e.Explain([]Message{m})
		if x, said := r.Messages[0], text(t, r); x.Archive != want || strings.Contains(said, "if that finds it") != c.want {
			t.Errorf("%s: %q, want %q, in\n%s", c.name, x.Archive, want, said)
		}
	}
}
