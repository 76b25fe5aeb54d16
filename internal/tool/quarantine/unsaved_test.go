package quarantine_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	record "github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
)

// lose deletes the folder of the letters.
func (w *world) lose() { w.must(os.RemoveAll(filepath.Dir(w.dir.File("x")))) }

// Nothing is deleted that could not be saved before.
func TestNothingUnsavedIsDeleted(t *testing.T) {
	w := newWorld(t)
	l := w.clash("sale")
	w.seen(l)
	before := w.data()
	w.lose()
	if err := w.work().Replace(t.Context(), l); err == nil || w.data() != before || w.depth(w.Queue) != 0 || w.depth(w.Quarantine) != 1 {
		t.Errorf("%v; stored %s", err, w.data())
	}

	w = newWorld(t)
	l = w.clash("sale")
	w.lose()
	if err := w.work().Resend(t.Context(), l); err == nil || w.depth(w.Quarantine) != 1 {
		t.Errorf("%v; %d messages in quarantine", err, w.depth(w.Quarantine))
	}
}

// If another event comes under the key before the message is sent, both events that made room for
// it are kept. One that is deleted in two tries is kept once.
func TestReplaceKeepsEveryEventThatItDeletes(t *testing.T) {
	w := newWorld(t)
	l := w.clash("gift")
	lost := errors.New("the connection was lost")
	replace := func(want error) {
		t.Helper()
		w.seen(l)
		if err := w.work().Replace(t.Context(), l); !errors.Is(err, want) {
			t.Fatal(err)
		}
		w.drain()
	}
	w.faults = testworld.Faults{{API: "DeleteItem", Before: lost}}
	replace(lost)
	w.faults = testworld.Faults{{API: "SendMessage", Before: lost}}
	replace(lost)
	w.send(body("gift", 1, "cents", 300))
	replace(nil)
	saved, err := w.dir.Find(l.ID)
	w.must(err)
	if len(saved.Replaced) != 2 || saved.Replaced[0].Data != body("gift", 1, "cents", 100) ||
		saved.Replaced[1].Data != body("gift", 1, "cents", 300) {
		t.Fatalf("%+v", saved.Replaced)
	}
	if one := saved.Replaced[1]; one.PK != "GIFT#1" || one.SK != "-" || one.ID != "1" || one.Type != "gift" ||
		!one.At.Equal(w.Clock.Now()) {
		t.Errorf("%+v", one)
	}
	if w.data() != l.Body || saved.Resent.Queue != w.Queue || saved.Resent.MessageID == "" || saved.Resent.MD5 != saved.MD5 ||
		saved.Resent.At.IsZero() {
		t.Errorf("stored %s, %+v", w.data(), saved.Resent)
	}
}

// The attributes of a message may be its envelope, so they decide what it is, and go with it.
func TestAttributesGoWithTheMessage(t *testing.T) {
	w := newWorld(t)
	attributes := map[string]types.MessageAttributeValue{}
	for name, text := range map[string]string{"ce_specversion": "1.0", "ce_id": "e", "ce_source": "s", "ce_type": "gift"} {
		attributes[name] = types.MessageAttributeValue{DataType: aws.String("String"), StringValue: &text}
	}
	const payload = `{"id":7,"at":"2030-01-02T03:00:00Z","cents":1}`
	w.post(&sqs.SendMessageInput{QueueUrl: &w.Quarantine, MessageBody: aws.String(payload), MessageAttributes: attributes})
	l := w.held()
	today := w.seen(l)
	if today.Verdict != event.Inserted || today.Item.Type != "gift" ||
		!(quarantine.Filter{Type: "gift", Key: "GIFT#7", Pipeline: w.plan}).Chooses(l) {
		t.Errorf("%+v", today)
	}
	w.must(w.work().Resend(t.Context(), l))
	w.drain()
	if w.data() != payload || w.depth(w.Quarantine) != 0 {
		t.Errorf("stored %s", w.data())
	}
}

// A file of another message is not overwritten, and its message is not deleted, although both have
// one id.
func TestAnotherMessageWithTheSameID(t *testing.T) {
	for name, change := range map[string]func(*quarantine.Letter){
		"another body": func(l *quarantine.Letter) {
			sum := md5.Sum([]byte("other"))
			l.Body, l.MD5 = "other", hex.EncodeToString(sum[:])
		},
		"another queue": func(l *quarantine.Letter) { l.Queue += "-other" },
	} {
		w := newWorld(t)
		l := w.conflict("sale")
		change(l)
		l.Deleted = w.Clock.Now() // so a pull would delete it, if it were the same
		w.must(w.dir.Save(l))
		_, err := w.pulled(w.dir)
		must.Fail(t, err, "holds another message with the same id")
		must.Equal(t, w.depth(w.Quarantine), 1, name)
		if name == "another queue" {
			continue
		}
		l.Deleted, l.Handle = time.Time{}, "expired"
		w.Clock.Pass(time.Hour)
		if ready, errs := w.work().Hold(t.Context(), []*quarantine.Letter{l}); len(ready) != 0 || errs[l.ID] == nil ||
			!strings.Contains(errs[l.ID].Error(), "another message with the same id") {
			t.Errorf("%s: %v", name, errs)
		}
	}
}

// An edited array is sent as it is now, although the positions in its note fit it too.
func TestNoEventOfAnEditedArrayIsLost(t *testing.T) {
	w := newWorld(t)
	l := w.array(bare)
	text := array(body("gift", 7, "cents", 7), body("gift", 8, "cents", 8), body("gift", 9, "cents", 9))
	l.Edit(text)
	w.must(w.dir.Save(l))
	must.Equal(t, l.Sends(), text)
	w.must(w.work().Resend(t.Context(), w.hold(l)[0]))
	w.drain()
	if got := w.data(); !strings.HasSuffix(got, strings.ReplaceAll(text[1:len(text)-1], " , ", " ")) {
		t.Errorf("stored: %s", got)
	}
}

// Ingot's note is not one of the producer's attributes, and is not sent again. A producer's
// attribute of the same name is.
func TestNotesAreNotSentAgain(t *testing.T) {
	w := newWorld(t)
	l := w.conflict("sale")
	if len(l.Attributes) != 0 || l.AttributesMD5 != "" || l.Note == nil {
		t.Errorf("%+v", l)
	}
	sent := w.sends()
	w.must(w.work().Resend(t.Context(), w.hold(l)[0]))
	if sent.MessageBody == nil || len(sent.MessageAttributes) != 0 {
		t.Errorf("%v are sent", sent.MessageAttributes)
	}
	note, err := json.Marshal(l.Note)
	w.must(err)
	for name, a := range map[string]types.MessageAttributeValue{
		"another name":     {DataType: aws.String("String"), StringValue: aws.String(string(note))},
		"another type":     {DataType: aws.String("String.json"), StringValue: aws.String(string(note))},
		"bytes":            {DataType: aws.String("Binary"), BinaryValue: note},
		"no note":          {DataType: aws.String("String"), StringValue: aws.String(`{"verdict":"Poison"}`)},
		"a string without": {DataType: aws.String("String")},
	} {
		key := record.Attribute
		if name == "another name" {
			key = "other"
		}
		got := quarantine.Received(types.Message{MessageId: aws.String("m"), Body: aws.String("x"),
			MessageAttributes: map[string]types.MessageAttributeValue{key: a}}, "q", false, start)
		if got.Note != nil || len(got.Attributes) != 1 || got.AttributesMD5 == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
