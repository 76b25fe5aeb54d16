package handler_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// A letter is the message to the byte, with one more attribute.
func TestLetterIsTheMessageUnchanged(t *testing.T) {
	w := newWorld(t)
	body := "not JSON:\t\r\n \u00e9 \U0001F600 \"quoted\" <&>"
	e := messages(body)
	attach(&e.Records[0], map[string]string{"ingot": `{"verdict":"Expired","reason":"past-expiry","detail":"an older note"}`})
	e.Records[0].MessageAttributes["trace"] = events.SQSMessageAttribute{DataType: "String.trace", StringValue: aws.String("abc")}
	e.Records[0].MessageAttributes["count"] = events.SQSMessageAttribute{DataType: "Number", StringValue: aws.String("12.50")}
	e.Records[0].MessageAttributes["bytes"] = events.SQSMessageAttribute{DataType: "Binary", BinaryValue: []byte{0, 1, 255}}
	w.gets(e, "Poison: undecodable")
	letter, note := w.letter()
	must.Equal(t, *letter.Body, body)
	must.Equal(t, note.Verdict+" "+note.Reason, "Poison undecodable")
	must.Equal(t, note.Detail == "", false)
	delete(letter.MessageAttributes, quarantine.Attribute)
	must.Match(t, letter.MessageAttributes, map[string]sqstypes.MessageAttributeValue{
		"trace": {DataType: aws.String("String.trace"), StringValue: aws.String("abc")},
		"count": {DataType: aws.String("Number"), StringValue: aws.String("12.50")},
		"bytes": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 255}},
	})
}

func TestNoteNamesTheKey(t *testing.T) {
	w := newWorld(t)
	w.receive(messages(order("1", 1), order("1", 2)))
	letter, _ := w.letter()
	must.Say(t, *letter.MessageAttributes[quarantine.Attribute].StringValue,
		`"verdict":"Conflict"`, `"reason":"digest-differs"`, `"pk":"ORDER#1"`, `"sk":"ORDER"`)
}

// SQS does not take U+FFFE and U+FFFF unescaped. A note that quotes a key with such a character
// must get through.
func TestNoteHoldsOnlyWhatSQSTakes(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{`\ufffe`, `\uffff`, `\u0001`, `\u007f`, `<&>`, `\u2028`} {
		body := func(cents int) string {
			return fmt.Sprintf(`{"type":"order","id":"%s","cents":%d,"at":"2099-03-01T10:00:00Z"}`, id, cents)
		}
		w.gets(messages(body(1), body(2)), "Inserted; Conflict: digest-differs", id)
		letter, _ := w.letter()
		note := *letter.MessageAttributes[quarantine.Attribute].StringValue
		if strings.ContainsAny(note, "\ufffe\uffff\u0001") {
			t.Errorf("id %s: the note holds a character that SQS refuses", id)
		}
		var key struct{ PK string }
		must.Succeed(t, json.Unmarshal([]byte(note), &key))
		must.Say(t, key.PK, "ORDER#")
	}
}

// A message that does not fit stays in its queue, whose own redrive carries it on.
func TestUnfitLetters(t *testing.T) {
	w := newWorld(t)
	e := messages("ten attributes", "x"+strings.Repeat("y", 1<<20-50), "fits", "nine attributes")
	for i, n := range map[int]int{0: 10, 3: 9} {
		for a := range n {
			attach(&e.Records[i], map[string]string{fmt.Sprint("a", a): "v"})
		}
	}
	must.Equal(t, w.receive(e), failures("m0", "m1"))
	must.Equal(t, len(w.quarantined()), 2)
	must.Equal(t, w.batches[0].Failed, 2)
	// A caller's own letters have the same bounds, to the attribute and the byte.
	direct := newWorld(t).ingest.Quarantine
	for _, c := range []struct {
		bytes, attributes int
		want              error
	}{{1, 10, nil}, {1, 11, quarantine.ErrUnfit}, {1 << 20, 0, nil}, {1<<20 + 1, 0, quarantine.ErrUnfit}} {
		l := quarantine.Letter{Body: strings.Repeat("x", c.bytes), Attributes: map[string]sqstypes.MessageAttributeValue{}}
		for a := range c.attributes {
			l.Attributes[fmt.Sprint("a", a)] = sqstypes.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("v")}
		}
		if err := direct.Send(deadline(t), []quarantine.Letter{l})[0]; !errors.Is(err, c.want) {
			t.Errorf("%d bytes, %d attributes: %v", c.bytes, c.attributes, err)
		}
	}
	// A body of nearly 1 MiB goes if there is room for the note.
	big := "x" + strings.Repeat("y", 1<<20-2000)
	must.Equal(t, w.receive(messages(big, "small", big)), failures())
	must.Equal(t, len(w.quarantined()), 3)
}

// A producer's own attribute named ingot is not overwritten. The message goes back untouched, and
// ends in the dead-letter queue. The other messages go on.
func TestOwnAttributeNamedIngot(t *testing.T) {
	text := func(s string) events.SQSMessageAttribute {
		return events.SQSMessageAttribute{DataType: "String", StringValue: &s}
	}
	note := `{"verdict":"Poison","reason":"undecodable","detail":"","pk":"a","sk":"b"}`
	for name, a := range map[string]events.SQSMessageAttribute{
		"text":             text("v2"),
		"empty":            text(""),
		"another object":   text(`{"verdict":"Poison","reason":"undecodable","detail":"","span":"t"}`),
		"no reason":        text(`{"verdict":"Poison"}`),
		"no such verdict":  text(`{"verdict":"Inserted","reason":"undecodable","detail":""}`),
		"something behind": text(note + " {}"),
		"another type":     {DataType: "String.json", StringValue: &note},
		"bytes":            {DataType: "Binary", BinaryValue: []byte(note)},
	} {
		w := newWorld(t)
		e := messages("broken", "broken too", order("1", 1))
		e.Records[0].MessageAttributes = map[string]events.SQSMessageAttribute{quarantine.Attribute: a}
		e.Records[2].MessageAttributes = e.Records[0].MessageAttributes // it is stored, so no note is needed
		must.Equal(t, w.receive(e), failures("m0"), name)
		letter, _ := w.letter()
		must.Equal(t, *letter.Body, "broken too", name)
		must.Say(t, w.log.String(), "a message attribute ingot of the producer's own")
	}
	w := newWorld(t)
	e := messages("broken")
	attach(&e.Records[0], map[string]string{quarantine.Attribute: note})
	must.Equal(t, w.receive(e), failures(), "with a note of Ingot's")
	must.Equal(t, len(w.quarantined()), 1)
}

// Each entry of a request may fail on its own. If that is the sender's fault, the entry is not
// tried again.
func TestQuarantineFailsInPart(t *testing.T) {
	w := newWorld(t)
	fail := func(id int, sender bool) func(any) {
		return func(output any) {
			out := output.(*sqs.SendMessageBatchOutput)
			out.Failed = append(out.Failed, sqstypes.BatchResultErrorEntry{Id: out.Successful[id].Id, SenderFault: sender,
				Code: aws.String("Broken")})
			out.Successful = append(out.Successful[:id:id], out.Successful[id+1:]...)
		}
	}
	w.faults = []fault{{API: "SendMessageBatch", Edit: fail(1, true)}, {API: "SendMessageBatch", Edit: fail(1, false)}}
	var bodies []string
	for i := range 14 {
		bodies = append(bodies, fmt.Sprint("bad ", i))
	}
	must.Equal(t, w.receive(messages(bodies...)), failures("m1"))
	must.Equal(t, w.calls["SendMessageBatch"], 3)
}

// SQS can refuse a request as a whole for one of its letters. The others are kept, and that one is
// not tried again.
func TestQuarantineRefusedAsAWhole(t *testing.T) {
	w := newWorld(t)
	w.faults = []fault{{API: "SendMessageBatch", Always: true, Before: &smithy.GenericAPIError{Code: "InvalidMessageContents"},
		Applies: func(input any) bool {
			return slices.ContainsFunc(input.(*sqs.SendMessageBatchInput).Entries, func(e sqstypes.SendMessageBatchRequestEntry) bool {
				return *e.MessageBody == "odd"
			})
		}}}
	must.Equal(t, w.receive(messages("bad", "odd", "worse")), failures("m1"))
	must.Equal(t, len(w.quarantined()), 2)
	must.Equal(t, w.calls["SendMessageBatch"], 4)
}

// If an answer is lost, the request is sent again. A letter may be in quarantine twice, but never
// not at all. An answer that does not name an entry proves nothing for it.
func TestQuarantineIsProven(t *testing.T) {
	w := newWorld(t)
	w.faults = []fault{{API: "SendMessageBatch", After: errLost}}
	must.Equal(t, w.receive(messages("x")), failures())
	must.Equal(t, len(w.quarantined()), 2)
	w.faults = []fault{{API: "SendMessageBatch", Edit: func(output any) { output.(*sqs.SendMessageBatchOutput).Successful = nil }}}
	must.Equal(t, w.receive(messages("x")), failures("m0"))
}

// If a queue does not exist or may not be used, that does not use up the function's time.
func TestQuarantineRefused(t *testing.T) {
	for _, code := range []string{"AccessDenied", "AWS.SimpleQueueService.NonExistentQueue", "InvalidClientTokenId"} {
		w := newWorld(t)
		w.refuse("SendMessageBatch", &smithy.GenericAPIError{Code: code, Fault: smithy.FaultClient})
		w.gets(messages("x", order("1", 1)), "Poison: undecodable, back; Inserted", code)
		must.Equal(t, w.calls["SendMessageBatch"], 1, code)
		must.Say(t, w.log.String(), code)
	}
}

// A caller without a deadline also gets an answer.
func TestQuarantineEndsWithoutDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the waits between the tries are real ones outside of a handler
		w := newWorld(t)
		w.refuse("SendMessageBatch", errLost)
		errs := w.ingest.Quarantine.Send(context.Background(), []quarantine.Letter{{Body: "x"}})
		if len(errs) != 1 || !errors.Is(errs[0], errLost) {
			t.Errorf("%v", errs)
		}
		errs = w.ingest.Quarantine.Send(context.Background(), []quarantine.Letter{{Body: strings.Repeat("x", 1<<20+1)}})
		if !errors.Is(errs[0], quarantine.ErrUnfit) {
			t.Errorf("%v", errs)
		}
	})
}

func TestDetailIsBounded(t *testing.T) {
	w := newWorld(t)
	body := order("1", 1)
	body = strings.Replace(body, `"order"`, `"`+strings.Repeat("é", 100_000)+`"`, 1)
	must.Equal(t, w.receive(messages(body)), failures())
	letter, _ := w.letter()
	note := *letter.MessageAttributes[quarantine.Attribute].StringValue
	if len(note) > 4096 || !utf8.ValidString(note) || !json.Valid([]byte(note)) {
		t.Errorf("a note of %d bytes", len(note))
	}
}

// TestNoteOfEveryVerdict shows that a note with any verdict that leads to quarantine is one of
// Ingot's own. If it were not, a message that was sent again could never come back to quarantine.
func TestNoteOfEveryVerdict(t *testing.T) {
	for _, v := range event.Verdicts {
		note, is := quarantine.ReadNote(`{"verdict":"` + v.String() + `","reason":"r","detail":"d"}`)
		if is != v.Quarantined() || is && note.Verdict != v.String() {
			t.Errorf("%s: %v, %+v", v, is, note)
		}
	}
}

// The log and the note of a message say which trace it belongs to, and so does the line of one that
// goes back.
func TestTraceOfAMessage(t *testing.T) {
	w := newWorld(t)
	var log bytes.Buffer
	w.ingest.Log = slog.New(slog.NewJSONHandler(&log, nil))
	const parent, header = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "Root=1-5759e988-bd862e3fe1be46a994272793"
	e := messages("poison", "poison", order("1", 1))
	attach(&e.Records[0], map[string]string{"traceparent": parent})
	e.Records[1].Attributes = map[string]string{"AWSTraceHeader": header}
	e.Records[2].Attributes = e.Records[1].Attributes
	w.receive(e)
	letters := w.quarantined()
	must.Equal(t, len(letters), 2)
	for i, want := range []string{parent, header} {
		note, _ := quarantine.ReadNote(*letters[i].MessageAttributes[quarantine.Attribute].StringValue)
		must.Equal(t, note.Trace, want)
		must.Say(t, log.String(), `"trace":"`+want+`"`)
	}
	must.Equal(t, strings.Count(log.String(), `"trace"`), 2, log.String())
	log.Reset()
	w.refuse("PutItem", errDenied)
	e.Records = e.Records[2:]
	w.receive(e)
	must.Say(t, log.String(), `"msg":"delivered again; the first of its batch"`, `"trace":"`+header+`"`)
}
