package quarantine_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	record "github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
)

// killed runs do, which a fault kills.
func killed(t *testing.T, do func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Error("nothing killed it")
		}
	}()
	do()
}

// The tool may die at every request of a resend. Nothing is lost: a message is in its queue or
// stored. The second copy is a Duplicate, so nothing is counted twice either.
func TestResendSurvivesEveryCrash(t *testing.T) {
	lost := errors.New("the connection was lost")
	for _, api := range []string{"SendMessage", "DeleteMessage"} {
		for name, fault := range map[string]testworld.Fault{
			"killed before": {Before: lost}, "killed after": {Kill: true}, "the answer is lost": {After: lost},
		} {
			for _, wait := range []time.Duration{0, time.Hour} { // the receipt handle may have run out
				t.Run(api+" "+name+" "+wait.String(), func(t *testing.T) {
					w := newWorld(t)
					w.send(body("sale", 1, "cents", 7.5, "x", "y"), `{"type":"sale","id":2}`)
					l := w.pull()[0]
					l.Edit(body("sale", 2, "cents", 5))
					w.must(w.dir.SaveBody(l))
					w.hold(l)
					fault.API = api
					w.faults = testworld.Faults{fault}
					if fault.Kill {
						killed(t, func() { _ = w.work().Resend(t.Context(), l) })
					} else if err := w.work().Resend(t.Context(), l); err == nil {
						t.Error("it says that all is well")
					}
					w.faults = nil
					w.drain()
					if stored := strings.Contains(w.data(), l.Body); w.depth(w.Quarantine) == 0 && !stored {
						t.Fatal("the message is lost")
					}
					w.Clock.Pass(wait)
					// The person begins again, with what the file says.
					for again, err := w.dir.Find(l.ID); ; again, err = w.dir.Find(l.ID) {
						w.must(err)
						if !again.Open() || again.Resent != nil && w.depth(w.Quarantine) == 0 {
							break
						}
						w.must(w.work().Resend(t.Context(), w.hold(again)[0]))
					}
					w.drain()
					if w.depth(w.Quarantine) != 0 || w.depth(w.DeadLetters) != 0 || w.total("sales") != "cents 12.5, sales 2" {
						t.Errorf("%d in quarantine, sales: %s", w.depth(w.Quarantine), w.total("sales"))
					}
					w.proven()
				})
			}
		}
	}
}

// A message that was sent or dropped, but came back because its deletion had no effect, is deleted
// by the next pull. It is neither sent again nor held.
func TestPullDeletesWhatIsDone(t *testing.T) {
	for state, sent := range map[string]int{"resent": 1, "dropped": 0} {
		w := newWorld(t)
		l := w.clash("sale")
		if sent == 1 {
			w.faults = testworld.Faults{{API: "DeleteMessage", Before: errors.New("no answer")}}
			if err := w.work().Resend(t.Context(), l); err == nil || l.State() != "sent, not deleted" {
				t.Fatalf("%v: %s", err, l.State())
			}
		} else {
			l.Deleted = w.Clock.Now()
			w.must(w.dir.Save(l))
			if ready, errs := w.work().Hold(t.Context(), []*quarantine.Letter{l}); len(ready) != 0 ||
				!errors.Is(errs[l.ID], quarantine.ErrDone) {
				t.Errorf("%v, %v", ready, errs)
			}
		}
		w.Clock.Pass(time.Hour)
		done, err := w.pulled(w.dir)
		if err != nil || done != (quarantine.Pulled{Deleted: 1}) || w.list()[0].State() != state || w.depth(w.Quarantine) != 0 ||
			w.depth(w.Queue) != sent {
			t.Errorf("%+v %v: %s", done, err, w.list()[0].State())
		}
	}
}

func TestSendingMustBeProven(t *testing.T) {
	for name, edit := range map[string]func(*sqs.SendMessageOutput){
		"another body": func(out *sqs.SendMessageOutput) {
			out.MD5OfMessageBody = aws.String("d41d8cd98f00b204e9800998ecf8427e")
		},
		"no checksum":    func(out *sqs.SendMessageOutput) { out.MD5OfMessageBody = nil },
		"no id":          func(out *sqs.SendMessageOutput) { out.MessageId = nil },
		"any attributes": func(out *sqs.SendMessageOutput) { out.MD5OfMessageAttributes = aws.String("x") },
	} {
		w := newWorld(t)
		l := w.clash("sale")
		w.faults = testworld.Faults{{API: "SendMessage", Edit: func(out any) { edit(out.(*sqs.SendMessageOutput)) }}}
		must.Fail(t, w.work().Resend(t.Context(), l), "is not proven")
		if again, _ := w.dir.Find(l.ID); again.Resent != nil || w.depth(w.Quarantine) != 1 {
			t.Errorf("%s: it is taken for sent", name)
		}
	}
}

// A message keeps its group, so its order among the others of the group is as if it came late.
func TestResendKeepsTheGroup(t *testing.T) {
	w := newWorldWith(t, stack.Config{FIFO: true}, spec)
	for _, text := range []string{body("sale", 1, "cents", 1), body("sale", 1, "cents", 2)} {
		w.post(&sqs.SendMessageInput{QueueUrl: &w.Queue, MessageBody: &text, MessageGroupId: aws.String("g")})
	}
	w.drain()
	l := w.held()
	if l.Group != "g" || l.Note.Group != "g" {
		t.Fatalf("%+v", l)
	}
	unanswered := func() {
		t.Helper()
		lost := errors.New("the connection was lost")
		w.faults = testworld.Faults{{API: "SendMessage", After: lost}}
		if err := w.work().Resend(t.Context(), l); !errors.Is(err, lost) {
			t.Fatal(err)
		}
	}
	// The same letter within five minutes has the same deduplication id: the queue drops the copy.
	unanswered()
	w.must(w.work().Resend(t.Context(), l))
	must.Equal(t, w.depth(w.Queue), 1)
	w.drain()
	must.Equal(t, w.depth(w.Quarantine), 1) // it is a Conflict still

	// An edited body is another message, which the queue must not drop: a lost answer says nothing
	// about it.
	for _, again := range w.pull() {
		if again.Open() {
			l = w.hold(again)[0]
		}
	}
	unanswered()
	l.Edit(body("sale", 2, "cents", 2))
	w.must(w.dir.Save(l))
	w.must(w.work().Resend(t.Context(), l))
	must.Equal(t, w.depth(w.Queue), 2)
}

// Two messages with one body are two messages: their attributes may make two events of them. A FIFO
// queue must not drop the second one. It takes none without a group.
func TestMessagesWithOneBodyAreTwo(t *testing.T) {
	w := newWorldWith(t, stack.Config{FIFO: true}, spec)
	for _, id := range []string{"a", "b"} {
		w.post(&sqs.SendMessageInput{QueueUrl: &w.Quarantine, MessageBody: aws.String(`{"at":"x"}`),
			MessageAttributes: map[string]types.MessageAttributeValue{
				"id": {DataType: aws.String("String"), StringValue: &id}}})
	}
	work := w.work()
	for _, l := range w.hold(w.pull()...) {
		work.Group = ""
		if err := work.Resend(t.Context(), l); !errors.Is(err, quarantine.ErrNoGroup) {
			t.Error(err)
		}
		work.Group = "mine"
		w.must(work.Resend(t.Context(), l))
	}
	if w.depth(w.Queue) != 2 || w.depth(w.Quarantine) != 0 {
		t.Errorf("%d in the queue, %d in quarantine", w.depth(w.Queue), w.depth(w.Quarantine))
	}
}

// A standard queue takes groups too. A message keeps the one that it had, and gets none that it had
// not.
func TestGroupsOfAStandardQueue(t *testing.T) {
	for _, group := range []string{"g", ""} {
		w := newWorld(t)
		l := w.clash("sale")
		l.Group = group
		work, sent := w.work(), w.sends()
		work.Group = "other"
		w.must(work.Resend(t.Context(), l))
		if aws.ToString(sent.MessageGroupId) != group || sent.MessageDeduplicationId != nil {
			t.Errorf("group %q became %q", group, aws.ToString(sent.MessageGroupId))
		}
	}
}

// Two people cannot work on one message at the same time.
func TestHoldIsForOne(t *testing.T) {
	w := newWorld(t)
	w.send("x", "y", "z")
	mine := w.pull()
	other := newWorld(t).dir
	_, err := w.pulled(other)
	must.Succeed(t, err)
	theirs, err := other.List()
	w.must(err)
	w.hold(mine[0])
	work := w.work()
	work.Dir = other
	ready, errs := work.Hold(t.Context(), theirs)
	if len(ready) != 2 || len(errs) != 1 || !errors.Is(errs[mine[0].ID], quarantine.ErrNotThere) {
		t.Errorf("%d ready, %v", len(ready), errs)
	}
	must.Equal(t, w.visible(w.Quarantine), "0")
	// What is found on the way to another message is visible again.
	w.Clock.Pass(time.Hour)
	w.hold(mine[2])
	must.Equal(t, w.visible(w.Quarantine), "2")
}

func TestDropNeedsTheFile(t *testing.T) {
	w := newWorld(t)
	w.send("x", "y")
	list := w.hold(w.pull()...)
	w.must(os.Remove(w.dir.File(list[0].ID)))
	if err := w.work().Drop(t.Context(), list[0]); err == nil || w.depth(w.Quarantine) != 2 {
		t.Errorf("%v: %d messages", err, w.depth(w.Quarantine))
	}
	w.must(w.work().Drop(t.Context(), list[1]))
	again, err := w.dir.Find(list[1].ID)
	w.must(err)
	if again.State() != "dropped" || again.Body != list[1].Body || w.depth(w.Quarantine) != 1 {
		t.Errorf("%s, %d messages", again.State(), w.depth(w.Quarantine))
	}
	for _, do := range []func(context.Context, *quarantine.Letter) error{w.work().Drop, w.work().Resend, w.work().Replace} {
		if err := do(t.Context(), again); !errors.Is(err, quarantine.ErrDone) {
			t.Errorf("%v", err)
		}
	}
}

// A FIFO queue takes no receipt handle that has run out. The message is received once more, and
// deleted.
func TestDeleteAfterTheHandleHasRunOut(t *testing.T) {
	w := newWorld(t)
	w.send("x")
	l := w.held()
	before := l.Handle
	w.Clock.Pass(2 * quarantine.Hide)
	w.faults = testworld.Faults{{API: "DeleteMessage", Before: &smithy.GenericAPIError{Code: "InvalidParameterValue",
		Message: "The receipt handle has expired", Fault: smithy.FaultClient}}}
	w.must(w.work().Drop(t.Context(), l))
	if w.depth(w.Quarantine) != 0 || l.Handle == before || l.State() != "dropped" {
		t.Errorf("%d messages, %s", w.depth(w.Quarantine), l.State())
	}
}

// What the streams function keeps is not a message. Nobody sends it by mistake.
func TestLettersOfTheStreamAreNotSent(t *testing.T) {
	w := newWorld(t)
	l := &quarantine.Letter{Body: body("sale", 1, "cents", 1), Note: &record.Note{Verdict: "Poison", Reason: string(record.GivenUp)}}
	for _, do := range []func(context.Context, *quarantine.Letter) error{w.work().Resend, w.work().Replace} {
		if err := do(t.Context(), l); !errors.Is(err, quarantine.ErrOfStream) {
			t.Error(err)
		}
	}
	if today := w.seen(l); today.Verdict != event.Poison || today.Reason != record.GivenUp ||
		today.Detail != quarantine.ErrOfStream.Error() || today.Item != nil {
		t.Errorf("%+v", today)
	}
}

// An edited body must be one that SQS takes, with its attributes.
func TestCheckBody(t *testing.T) {
	text := strings.Repeat("v", 100)
	l := &quarantine.Letter{Attributes: map[string]quarantine.Attribute{"name": {Type: "String", Text: &text}}}
	for body, want := range map[string]string{
		"\x00":                          "U+0000 at byte 0",
		strings.Repeat("x", 1<<20-109):  "1048577 bytes",
		strings.Repeat("x", 1<<20-110):  "",
		"\t\r\n\u0085 \u007f\U0010ffff": "",
	} {
		err := l.CheckBody(body)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.10q: %v, want %s", body, err, want)
		}
	}
}
