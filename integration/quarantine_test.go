package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
)

// letters are the messages of a queue, saved in a folder.
type letters struct {
	*world
	dir quarantine.Dir
}

func newLetters(w *world) *letters {
	w.Helper()
	dir, err := quarantine.MakeDir(w.TempDir())
	must.Succeed(w, err)
	return &letters{w, dir}
}

// queue is a queue to pull from, in the time of the backend.
func (l *letters) queue(url string) quarantine.Queue {
	return quarantine.Queue{Client: l.sqs, URL: url, Env: env.Env{Now: l.now}}
}

func (l *letters) work(client quarantine.Client) *quarantine.Work {
	q := l.queue(l.quarantine)
	q.Client = client
	return &quarantine.Work{Queue: q, Dir: l.dir, To: l.world.queue,
		Events: &quarantine.Events{Client: l.db, Table: l.events, Examiner: quarantine.Examiner{Pipeline: l.plan, Store: l.store}}}
}

// pull saves what a queue has, and makes it visible again.
func (l *letters) pull(url string) []*quarantine.Letter {
	l.Helper()
	_, err := l.queue(url).Pull(ctx, l.dir, quarantine.Pulling{Most: 100, Once: true})
	must.Succeed(l, err)
	return l.list()
}

func (l *letters) list() []*quarantine.Letter {
	l.Helper()
	list, err := l.dir.List()
	must.Succeed(l, err)
	return list
}

// hold hides letters from others.
func (l *letters) hold(w *quarantine.Work, all ...*quarantine.Letter) []*quarantine.Letter {
	l.Helper()
	ready, errs := w.Hold(ctx, all)
	if len(errs) > 0 || len(ready) != len(all) {
		l.Fatalf("%d of %d letters are held: %v", len(ready), len(all), errs)
	}
	return ready
}

func (l *letters) waiting(url string) int {
	l.Helper()
	n, err := stack.Depth(ctx, l.sqs, url)
	must.Succeed(l, err)
	return n
}

var errKilled = errors.New("the tool was killed")

// dying is an SQS at which the tool is killed before it deletes anything.
type dying struct{ quarantine.Client }

func (dying) DeleteMessage(context.Context, *sqs.DeleteMessageInput, ...func(*sqs.Options)) (*sqs.DeleteMessageOutput, error) {
	return nil, errKilled
}

// TestQuarantinedIsRight replaces a stored event by the one in quarantine. The tool is killed
// between sending and deleting, once with the proof of sending in its file and once without.
// Nothing is lost, and the second copy is a Duplicate.
func TestQuarantinedIsRight(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		for name, proof := range map[string]bool{"with the proof": true, "before the proof is saved": false} {
			t.Run(name, func(t *testing.T) {
				l := newLetters(newWorld(t, b, aggregate.Receipts))
				l.send(order("m0", "o1", 5, began), order("m0", "o2", 6, began))
				l.consume()
				l.send(order("m0", "o1", 7, began))
				l.consume()
				found := l.pull(l.quarantine)
				if len(found) != 1 || found[0].Note == nil || found[0].Note.Reason != string(event.DigestDiffers) ||
					found[0].Attributes["trace"].Text == nil {
					t.Fatalf("%+v", found)
				}
				letter := found[0]
				today, err := quarantine.Examiner{Pipeline: l.plan, Store: l.store}.Examine(ctx, letter)
				if err != nil || today.Stored == nil || len(today.Differences) == 0 || today.Verdict != event.Conflict {
					t.Fatalf("%+v, %v", today, err)
				}
				letter.Seen = []string{today.Stored.Digest.String()}
				w := l.work(dying{l.sqs})
				held := l.hold(w, letter)[0]
				before := *held
				if err := w.Replace(ctx, held); !errors.Is(err, errKilled) {
					t.Fatalf("%v", err)
				}
				again := l.list()[0]
				if again.Resent == nil || len(again.Replaced) != 1 || again.Replaced[0].Data != today.Stored.Data ||
					l.waiting(l.quarantine) != 1 {
					t.Fatalf("the file says %+v", again)
				}
				l.consume()
				if !proof { // it was killed a moment earlier
					before.Replaced = again.Replaced
					must.Succeed(t, l.dir.Save(&before))
					again = l.list()[0]
				}
				w = l.work(l.sqs)
				must.Succeed(t, w.Resend(ctx, l.hold(w, again)[0]))
				l.consume()
				if l.waiting(l.quarantine) != 0 || l.verdicts[event.Inserted] != 3 || l.verdicts[event.Conflict] != 1 ||
					l.verdicts[event.Duplicate] != map[bool]int{true: 0, false: 1}[proof] {
					t.Errorf("%d are in quarantine, verdicts %v", l.waiting(l.quarantine), l.verdicts)
				}
				item, err := l.store.Item(ctx, today.Stored.Key)
				if err != nil || item == nil || item.Data != letter.Body {
					t.Errorf("stored is %+v, %v", item, err)
				}
			})
		}
	})
}

// TestLargeLetter pulls a message of 1 MiB with ten attributes and sends it again, the same to the
// byte. Another message is dropped.
func TestLargeLetter(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		l := newLetters(newWorld(t, b, aggregate.Receipts))
		in := &sqs.SendMessageInput{QueueUrl: &l.quarantine, MessageAttributes: map[string]types.MessageAttributeValue{}}
		size := 0
		for i := range 10 {
			name, a := fmt.Sprintf("a%d", i), types.MessageAttributeValue{DataType: aws.String("String"),
				StringValue: aws.String("tëxt <&> " + fmt.Sprint(i))}
			if i%2 == 1 {
				a = types.MessageAttributeValue{DataType: aws.String("Binary.raw"), BinaryValue: []byte{0, 1, 0xff, byte(i)}}
			}
			in.MessageAttributes[name] = a
			size += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
		}
		body := `{"id":"` + "<img src=x onerror=alert(1)>=1+1\t" + strings.Repeat("x", 1<<20-size-100) + `"}`
		body += strings.Repeat(" ", 1<<20-size-len(body))
		in.MessageBody = &body
		_, err := l.sqs.SendMessage(ctx, in)
		must.Succeed(t, err)
		_, err = l.sqs.SendMessage(ctx,
			&sqs.SendMessageInput{QueueUrl: &l.quarantine, MessageBody: aws.String("not JSON")})
		must.Succeed(t, err)
		found := l.pull(l.quarantine)
		if len(found) != 2 {
			t.Fatalf("%d letters", len(found))
		}
		w := l.work(l.sqs)
		for _, letter := range l.hold(w, found...) {
			var err error
			if letter.Body == body {
				err = w.Resend(ctx, letter)
			} else {
				err = w.Drop(ctx, letter)
			}
			if err != nil {
				t.Error(err)
			}
		}
		must.Equal(t, l.waiting(l.quarantine), 0)
		got := l.take(l.world.queue)
		m, there := got[body]
		if len(got) != 1 || !there || len(m.MessageAttributes) != 10 {
			t.Fatalf("%d messages, %d attributes", len(got), len(m.MessageAttributes))
		}
		for name, want := range in.MessageAttributes {
			has := m.MessageAttributes[name]
			if aws.ToString(has.StringValue) != aws.ToString(want.StringValue) || string(has.BinaryValue) != string(want.BinaryValue) ||
				*has.DataType != *want.DataType {
				t.Errorf("%s: %+v", name, has)
			}
		}
	})
}

// TestCtrlCGivesBack interrupts a pull that holds 25 messages. All of them are visible again within
// five seconds.
func TestCtrlCGivesBack(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		l := newLetters(newWorld(t, b, aggregate.Receipts))
		for n := range 25 {
			_, err := l.sqs.SendMessage(ctx,
				&sqs.SendMessageInput{QueueUrl: &l.quarantine, MessageBody: aws.String(fmt.Sprint("letter ", n))})
			must.Succeed(t, err)
		}
		pulling, interrupt := context.WithCancel(ctx)
		saved := 0
		done, err := l.queue(l.quarantine).Pull(pulling, l.dir, quarantine.Pulling{Most: 100, OnSaved: func(*quarantine.Letter) {
			if saved++; saved == 25 {
				interrupt()
			}
		}})
		interrupt()
		if err != nil || done.Released != 25 || done.Lost != 0 {
			t.Errorf("%+v, %v", done, err)
		}
		if got := l.take(l.quarantine); len(got) != 25 {
			t.Errorf("%d messages are visible", len(got))
		}
	})
}

// TestFIFODeadLetters pulls 25 dead letters of one group. SQS hands out ten of a group at most,
// until they are deleted. So a pull saves ten, and the next one the others once these are dropped.
func TestFIFODeadLetters(t *testing.T) {
	onEach(t, func(t *testing.T, b *backend) {
		l := newLetters(newWorld(t, b, aggregate.Receipts))
		l.quarantine = l.createQueue(stack.Queue{FIFO: true})
		for n := range 25 {
			_, err := l.sqs.SendMessage(ctx,
				&sqs.SendMessageInput{QueueUrl: &l.quarantine, MessageBody: aws.String(fmt.Sprint("letter ", n)),
					MessageGroupId: aws.String("g"), MessageDeduplicationId: aws.String(fmt.Sprint(n))})
			must.Succeed(t, err)
		}
		for round, want := range []int{10, 20, 25} {
			found := l.pull(l.quarantine)
			if len(found) != want {
				t.Fatalf("round %d: %d letters, want %d", round, len(found), want)
			}
			w := l.work(l.sqs)
			for _, letter := range found {
				if !letter.Open() {
					continue
				}
				must.Equal(t, letter.Group, "g")
				must.Succeed(t, w.Drop(ctx, l.hold(w, letter)[0]))
			}
		}
		must.Equal(t, l.waiting(l.quarantine), 0)
	})
}
