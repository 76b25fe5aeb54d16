package quarantine_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// A message of 1 MiB with ten attributes, some of them binary, is saved to the byte.
func TestPullSavesWholeMessages(t *testing.T) {
	w := newWorld(t)
	attributes := map[string]types.MessageAttributeValue{}
	size := 0
	for i := range 10 {
		name := fmt.Sprintf("a%d", i)
		a := types.MessageAttributeValue{DataType: aws.String("String"), StringValue: aws.String("täxt\t\u2028 <&> " + name)}
		if i%2 == 1 {
			a = types.MessageAttributeValue{DataType: aws.String("Binary.raw"), BinaryValue: []byte{0, 1, 0xff, byte(i)}}
		}
		attributes[name] = a
		size += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	text := "\"\t\r\n<&>\u2028\u0085\u007f\U0001F600"
	text += strings.Repeat("x", 1<<20-size-len(text))
	w.post(&sqs.SendMessageInput{QueueUrl: &w.Quarantine, MessageBody: &text, MessageAttributes: attributes})
	list := w.pull()
	must.Equal(t, len(list), 1)
	l := list[0]
	if l.Body != text || len(l.Attributes) != 10 || l.Note != nil || l.Receives != 1 || l.Handle == "" || l.Sent.IsZero() {
		t.Errorf("the file holds %d bytes, %d attributes, note %v, receives %d", len(l.Body), len(l.Attributes), l.Note, l.Receives)
	}
	for name, want := range attributes {
		got := l.Attributes[name]
		if got.Type != *want.DataType || aws.ToString(got.Text) != aws.ToString(want.StringValue) ||
			!bytes.Equal(got.Binary, want.BinaryValue) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, file := range []string{w.dir.File(l.ID), w.dir.Body(l.ID)} {
		info, err := os.Stat(file)
		w.must(err)
		must.Equal(t, info.Mode().Perm(), 0o600, "others may read the file")
	}
	must.Equal(t, string(must.Read(t, w.dir.Body(l.ID))), text)
	// It goes back the same, and SQS's own checksums prove it.
	must.Succeed(t, w.work().Resend(t.Context(), w.hold(l)[0]))
	if w.depth(w.Quarantine) != 0 || w.depth(w.Queue) != 1 {
		t.Error("it is not where it should be")
	}
}

// world for a pull in real goroutines, on a clock that synctest drives.
func live(t *testing.T) (*embedded.Engine, *stack.Stack, quarantine.Dir) {
	t.Helper()
	e := embedded.New(embedded.Config{Now: time.Now, RollAfter: -1})
	s, err := stack.New(t.Context(), e, stack.Config{})
	must.Succeed(t, err)
	dir, err := quarantine.MakeDir(filepath.Join(t.TempDir(), "letters"))
	must.Succeed(t, err)
	return e, s, dir
}

func waiting(t *testing.T, e *embedded.Engine, url string) (visible, hidden string) {
	t.Helper()
	out, err := e.SQS().GetQueueAttributes(context.Background(),
		&sqs.GetQueueAttributesInput{QueueUrl: &url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll}})
	must.Succeed(t, err)
	return out.Attributes["ApproximateNumberOfMessages"], out.Attributes["ApproximateNumberOfMessagesNotVisible"]
}

// A pull hides its messages for days, although SQS hides none for longer than twelve hours at a
// time. At ctrl-C all of them are visible again within five seconds.
func TestPullHidesUntilItIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, dir := live(t)
		const n = 57
		for i := range n {
			_, err := e.SQS().SendMessage(t.Context(),
				&sqs.SendMessageInput{QueueUrl: &s.Quarantine, MessageBody: aws.String(fmt.Sprint("m", i))})
			must.Succeed(t, err)
		}
		ctx, interrupt := context.WithCancel(t.Context())
		type end struct {
			done quarantine.Pulled
			err  error
		}
		ended := make(chan end)
		go func() {
			done, err := quarantine.Queue{Client: e.SQS(), URL: s.Quarantine}.Pull(ctx, dir, quarantine.Pulling{Most: 1000})
			ended <- end{done, err}
		}()
		seen := 0
		for range 30 * 60 { // thirty hours, minute by minute
			time.Sleep(time.Minute)
			if visible, hidden := waiting(t, e, s.Quarantine); visible != "0" || hidden != fmt.Sprint(n) {
				seen++
			}
		}
		// Twice the twelve hours run out. The messages are then visible until the next receive.
		if seen > 20 {
			t.Errorf("messages were visible in %d of 1,800 minutes", seen)
		}
		before := time.Now()
		interrupt()
		got := <-ended
		if took := time.Since(before); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		if visible, hidden := waiting(t, e, s.Quarantine); visible != fmt.Sprint(n) || hidden != "0" {
			t.Errorf("%s visible, %s hidden", visible, hidden)
		}
		if got.err != nil || got.done.Saved != n || got.done.Released != n || got.done.Lost != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// slow is a service whose long poll takes its time, and which hands out messages at the end of it.
type slow struct {
	quarantine.Client
	polls chan struct{}
}

func (s slow) ReceiveMessage(ctx context.Context, in *sqs.ReceiveMessageInput, opts ...func(*sqs.Options)) (*sqs.ReceiveMessageOutput,
	error) {
	select {
	case s.polls <- struct{}{}:
	default:
	}
	select {
	case <-time.After(time.Duration(in.WaitTimeSeconds) * time.Second):
	case <-ctx.Done():
		// The service does not know that nobody waits for its answer any more.
		_, _ = s.Client.ReceiveMessage(context.WithoutCancel(ctx), in, opts...)
		return nil, ctx.Err()
	}
	return s.Client.ReceiveMessage(ctx, in, opts...)
}

// If ctrl-C comes while a receive waits, what that receive brings is made visible too.
func TestInterruptDuringAReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, s, dir := live(t)
		_, err := e.SQS().SendMessage(t.Context(),
			&sqs.SendMessageInput{QueueUrl: &s.Quarantine, MessageBody: aws.String("m")})
		must.Succeed(t, err)
		ctx, interrupt := context.WithCancel(t.Context())
		defer interrupt()
		polls, ended := make(chan struct{}, 1), make(chan error)
		go func() {
			_, err := quarantine.Queue{Client: slow{e.SQS(), polls}, URL: s.Quarantine}.Pull(ctx, dir, quarantine.Pulling{Most: 10})
			ended <- err
		}()
		<-polls
		time.Sleep(time.Second)
		before := time.Now()
		interrupt()
		must.Succeed(t, <-ended)
		if took := time.Since(before); took > 5*time.Second {
			t.Errorf("it took %s", took)
		}
		if visible, hidden := waiting(t, e, s.Quarantine); visible != "1" || hidden != "0" {
			t.Errorf("%s visible, %s hidden", visible, hidden)
		}
	})
}

// If the answer to the change is lost, the next try finds that nothing is hidden. The messages
// count as visible again all the same, and one that was dropped meanwhile does not.
func TestPullCountsWhatIsVisible(t *testing.T) {
	for _, lost := range []error{nil, errors.New("no answer")} {
		w := newWorld(t)
		w.send("x", "y", "z")
		w.faults = testworld.Faults{{API: "ChangeMessageVisibilityBatch", After: lost}}
		dropped := false
		done, err := w.letters().Pull(t.Context(), w.dir, quarantine.Pulling{Most: 10, Once: true, OnSaved: func(l *quarantine.Letter) {
			if !dropped {
				w.must(w.work().Drop(t.Context(), l))
				dropped = true
			}
		}})
		if err != nil || done.Released != 2 || done.Lost != 0 || w.visible(w.Quarantine) != "2" || len(w.faults) > 0 {
			t.Errorf("lost %v: %+v %v, %s visible", lost, done, err, w.visible(w.Quarantine))
		}
	}
}

// What is not proven visible again is said, and counted.
func TestPullSaysWhatItCouldNotRelease(t *testing.T) {
	w := newWorld(t)
	w.send("x", "y")
	w.faults = testworld.Faults{{API: "ChangeMessageVisibilityBatch", Before: errors.New("no answer"), Always: true}}
	done, err := w.pulled(w.dir)
	must.Fail(t, err, "2 messages are not proven visible again")
	must.Equal(t, done, quarantine.Pulled{Saved: 2, Lost: 2})
}

// A pull that ends because it holds as many as it may says whether others wait.
func TestPullSaysThatMoreWait(t *testing.T) {
	for most, more := range map[int]bool{1: true, 2: true, 3: false, 4: false} {
		w := newWorld(t)
		w.send("x", "y", "z")
		done, err := w.letters().Pull(t.Context(), w.dir, quarantine.Pulling{Most: most, Once: true})
		if saved := min(most, 3); err != nil || done.More != more || done.Saved != saved || done.Released != saved ||
			w.visible(w.Quarantine) != "3" {
			t.Errorf("at most %d: %+v %v, %s visible", most, done, err, w.visible(w.Quarantine))
		}
	}
}

// If the folder cannot be written, the pull ends with the reason, and the messages are visible.
func TestPullWithoutAFolder(t *testing.T) {
	w := newWorld(t)
	w.send("x")
	w.lose()
	_, err := w.pulled(w.dir)
	must.Fail(t, err, "no such file")
	must.Equal(t, w.visible(w.Quarantine), "1")
}

// A pull never overwrites what was done to a letter.
func TestPullKeepsEdits(t *testing.T) {
	w := newWorld(t)
	w.send(`{"type":"sale"}`)
	l := w.pull()[0]
	l.Edit(body("sale", 1, "cents", 5))
	w.must(w.dir.SaveBody(l)) // as an editor does
	again := w.pull()[0]
	if again.Body != l.Body || again.Receives != 2 || again.Handle == l.Handle || again.State() != "edited" {
		t.Errorf("%+v", again)
	}
}

// Files that were changed by hand are refused, each with its name. The others are listed.
func TestDamagedFiles(t *testing.T) {
	w := newWorld(t)
	w.send("x", "y")
	list := w.pull()
	file := w.dir.File(list[0].ID)
	text := must.Read(t, file)
	for name, damage := range map[string]string{
		"cut short":    string(text[:len(text)/2]),
		"other body":   strings.Replace(string(text), `"body": "`, `"body": "z`, 1),
		"other id":     strings.Replace(string(text), list[0].ID, "another", 1),
		"nothing left": "",
	} {
		must.Write(t, file, damage)
		got, err := w.dir.List()
		if err == nil || !strings.Contains(err.Error(), file) || len(got) != 1 || got[0].ID != list[1].ID {
			t.Errorf("%s: %v, %d letters", name, err, len(got))
		}
		if _, err := w.pulled(w.dir); err == nil {
			t.Errorf("%s: a pull goes over it", name)
		}
	}
	for _, id := range []string{"../x", "", ".", "a/b", strings.Repeat("a", 200)} {
		if err := w.dir.Save(&quarantine.Letter{ID: id, Queue: "q"}); err == nil {
			t.Errorf("%q is the name of a file", id)
		}
	}
}

func TestFind(t *testing.T) {
	w := newWorld(t)
	w.send("x", "y")
	for text, want := range map[string]string{"nothing": "list", "": "too short"} {
		_, err := w.dir.Find(text)
		must.Fail(t, err, want)
	}
	for _, l := range w.pull() {
		if got, err := w.dir.Find(l.ID); err != nil || got.ID != l.ID {
			t.Error(err)
		}
	}
}

// The messages of a dead-letter queue have no note. On a FIFO queue they have their group.
func TestDeadLetters(t *testing.T) {
	w := newWorldWith(t, stack.Config{FIFO: true}, spec)
	own := map[string]types.MessageAttributeValue{"ingot": {DataType: aws.String("String"), StringValue: aws.String("the producer's own")}}
	w.post(&sqs.SendMessageInput{QueueUrl: &w.DeadLetters, MessageBody: aws.String(body("sale", 7, "cents", 70)),
		MessageGroupId: aws.String("g-7"), MessageAttributes: own})
	work := w.work()
	work.URL, work.Dead = w.DeadLetters, true
	_, err := work.Pull(t.Context(), w.dir, quarantine.Pulling{Most: 10, Once: true})
	w.must(err)
	l := w.list()[0]
	if !l.Dead || l.Note != nil {
		t.Fatalf("%+v", l)
	}
	sent := w.sends()
	w.must(work.Resend(t.Context(), l))
	if aws.ToString(sent.MessageGroupId) != "g-7" || aws.ToString(sent.MessageAttributes["ingot"].StringValue) != "the producer's own" {
		t.Errorf("%+v", sent)
	}
}

// What a letter's note or attributes say of its trace is shown.
func TestTraceIsShown(t *testing.T) {
	w := newWorld(t)
	const parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	w.post(&sqs.SendMessageInput{QueueUrl: &w.Queue, MessageBody: aws.String("poison"),
		MessageAttributes: map[string]types.MessageAttributeValue{
			"traceparent": {DataType: aws.String("String"), StringValue: aws.String(parent)}}})
	w.drain()
	l := w.pull()[0]
	for _, note := range []bool{true, false} { // a dead letter has none
		if !note {
			l.Note = nil
		}
		var out strings.Builder
		shown := quarantine.Show(l, "", w.seen(l), show.Personal{})
		shown.Print(&out, "letters", "", nil)
		must.Equal(t, shown.Trace, parent)
		must.Say(t, out.String(), "trace       "+parent)
	}
}
