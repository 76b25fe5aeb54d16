package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/cmd/ingot/quarantine"
	"github.com/ingot-events/ingot/examples"
	letter "github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/target"
)

const letterSpec = `ingot: 1
epoch: 1
type: "{type}"
events:
  sale:
    id: "{id}"
    at: "{at}"
    key: {pk: "SALE#{id}", sk: "-"}
    indexes: {GSI1: {pk: "CUSTOMER#{customer.email | hmac}", sk: "{@at}"}}
aggregates:
  sales: {since: 1, onExpire: keep, from: {sale: {values: {sales: count, cents: sum cents, best: max cents}}}}
`

// devWorld is an ingot dev in a folder of its own, in which the tool runs with --local.
type devWorld struct {
	t   *testing.T
	dev *dev.Dev
	env map[string]string
}

func newDevWorld(t *testing.T) *devWorld {
	t.Helper()
	return newDevWorldOf(t, letterSpec)
}

func newDevWorldOf(t *testing.T, spec string) *devWorld {
	t.Helper()
	return newDevWorldIn(t, map[string]string{"pipeline.yaml": spec})
}

// newDevWorldIn runs an ingot dev in a folder with these files.
func newDevWorldIn(t *testing.T, files map[string]string) *devWorld {
	t.Helper()
	return newDevWorldAt(t, time.Now, files)
}

// newDevWorldAt is newDevWorldIn on a machine with this clock.
func newDevWorldAt(t *testing.T, now func() time.Time, files map[string]string) *devWorld {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	t.Chdir(dir)
	d := startDev(t, dev.Config{File: "pipeline.yaml", Now: now, Secret: []byte("a secret of sixteen bytes")})
	return &devWorld{t, d, map[string]string{"INGOT_PII_KEY": "a secret of sixteen bytes"}}
}

// startDev runs an ingot dev until the test ends.
func startDev(t *testing.T, cfg dev.Config) *dev.Dev {
	t.Helper()
	judges := roles{local: true}
	cfg.Caller = func() *iam.Role {
		command, _ := atWork.Load().(string) // none yet, if a test asks without one
		return judges.role(command)
	}
	d, err := dev.Start(t.Context(), cfg)
	must.Succeed(t, err)
	judges.of = func() *target.Target { return found(d) }
	t.Cleanup(func() {
		judges.fail(t.Error)
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

// run runs a command line, and requires an exit code.
func (w *devWorld) run(code int, line string, more ...string) ran {
	w.t.Helper()
	got := pipedWith(w.t, w.env, "", line, more...)
	if got.code != code {
		w.t.Fatalf("ingot %s %q: exit code %d, want %d\n%s%s", line, more, got.code, code, got.out, got.errors)
	}
	return got
}

// send sends messages and waits until so many are in quarantine.
func (w *devWorld) send(quarantined int, bodies ...string) {
	w.t.Helper()
	for _, body := range bodies {
		w.post(w.dev.Stack().Queue, body, nil)
	}
	until(w.t, "the messages are processed", func() bool {
		return w.queued() == 0 && w.quarantined() == quarantined
	})
}

func (w *devWorld) post(queue, body string, attributes map[string]types.MessageAttributeValue) {
	w.t.Helper()
	_, err := w.dev.Engine().SQS().SendMessage(w.t.Context(),
		&sqs.SendMessageInput{QueueUrl: &queue, MessageBody: &body, MessageAttributes: attributes})
	must.Succeed(w.t, err)
}

// quarantined returns how many messages are in quarantine.
func (w *devWorld) quarantined() int {
	w.t.Helper()
	return w.waiting(w.dev.Stack().Quarantine)
}

// queued returns how many messages the ingest function has not processed yet.
func (w *devWorld) queued() int {
	w.t.Helper()
	return w.waiting(w.dev.Stack().Queue)
}

func (w *devWorld) waiting(queue string) int {
	w.t.Helper()
	n, err := w.dev.Stack().Depth(w.t.Context(), queue)
	must.Succeed(w.t, err)
	return n
}

// pull pulls what is in quarantine into the folder letters, and returns the ids there.
func (w *devWorld) pull() (ids []string) {
	w.t.Helper()
	w.run(0, "quarantine pull letters --once --local")
	return w.listed("")
}

// listed returns the ids that list chooses in the folder letters, in the order of the messages.
func (w *devWorld) listed(line string, more ...string) (ids []string) {
	w.t.Helper()
	var out struct{ Messages []quarantine.Listed }
	got := w.run(0, "quarantine list letters --output json "+line, more...)
	got.reads(w.t, &out)
	for _, m := range out.Messages {
		ids = append(ids, m.ID)
	}
	return ids
}

// A removal that the publish function has given up is published from its letter, which then is
// dropped. A letter that still holds what nobody was told is not.
func TestRemovalIsPublishedAgain(t *testing.T) {
	w := newDevWorld(t)
	next, err := stack.Queue{Name: "NEXT-QUEUE"}.Create(t.Context(), w.dev.Engine().SQS())
	must.Succeed(t, err)
	write(t, "publish.yaml", `publish: 1
source: shop
publications: {sales: {from: [sale], on: [removed], to: "arn:aws:sqs:us-east-1:000000000000:NEXT-QUEUE"}}
`)
	post := func(r letter.Record) {
		r.SK, r.Sequences, r.Reason, r.Detail = "-", []string{"1"}, letter.Unpublished, "it is full"
		l := r.Letter()
		w.post(w.dev.Stack().Quarantine, l.Body, l.Attributes)
	}
	post(letter.Record{PK: "SALE#1",
		Removals: map[string]json.RawMessage{"sales": json.RawMessage(`{"id":"7","change":"removed","pk":"SALE#1","sk":"-"}`)}})
	w.pull()
	const again = "publish again --since 2026-01-01 --letters letters --local"
	some := w.run(0, again, "--only", "sales")
	if strings.Contains(some.errors, "next: ") { // the letter may have a removal for another publication
		t.Error(some.errors)
	}
	got := w.run(0, again)
	must.Say(t, got.errors, "next: ingot quarantine drop letters --reason unpublished")
	must.Equal(t, got.out, "1 messages are sent\n")
	must.Equal(t, w.waiting(next), 2)
	post(letter.Record{PK: "SALE#2", Change: "REMOVE"}) // its record could not be read
	w.pull()
	got = w.run(0, again)
	advice := regexp.MustCompile(`next: ingot (quarantine drop letters .*)`).FindStringSubmatch(got.errors)
	if advice == nil || !strings.Contains(got.errors, "does not hold the message of a removal: tell the receivers yourself") {
		t.Fatal(got.errors)
	}
	w.run(0, advice[1]+" --local --yes")
	got = w.run(0, again)
	got.lacks(t, "next: ")
	must.Equal(t, w.waiting(next), 3)
	must.Equal(t, w.quarantined(), 1)
}

// What is published again may not have changed, and the command says so before it sends it.
func TestChangesArePublishedAgain(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"pipeline.yaml", "publish.yaml"} {
		text, err := examples.Files.ReadFile("publish/" + name)
		must.Succeed(t, err)
		files[name] = string(text)
	}
	w := newDevWorldIn(t, files)
	next, err := stack.Queue{Name: "NEXT-QUEUE"}.Create(t.Context(), w.dev.Engine().SQS())
	must.Succeed(t, err)
	t.Setenv("PUBLISH_TO", "arn:aws:sqs:us-east-1:000000000000:NEXT-QUEUE")
	for n := range 2 {
		w.send(0, fmt.Sprintf(`{"type":"order.status","order_id":"1","changed_at":"2026-01-02T03:04:05Z","version":%d,"status":"paid"}`, n))
	}
	for only, says := range map[string]bool{"orders": false, "orders,statuses": true} {
		got := w.run(0, "publish again --since 2026-01-01 --local --only", only)
		if is := strings.Contains(got.errors, "statuses: the payload before is not known now"); is != says || w.waiting(next) > 1 {
			t.Errorf("%s: %s%s%d wait", only, got.out, got.errors, w.waiting(next))
		}
	}
	must.Equal(t, w.waiting(next), 1)
}

const (
	oldSale = `{"type":"sale","id":1,"at":"2026-01-02T03:04:05Z","customer":{"email":"ann@example.com"},"cents":100}`
	newSale = `{"type":"sale","id":1,"at":"2026-01-02T03:04:05Z","customer":{"email":"ann@example.org"},"cents":250,"note":"\u001b[2J"}`
	badSale = `{"type":"sale","id":2,"customer":{"email":"bob@example.com"},"cents":5}`
)

// golden compares an output with a file, and requires that it fits a terminal of 80 columns.
func sameText(t *testing.T, name, text string, ids ...string) {
	t.Helper()
	for i, id := range ids {
		text = strings.ReplaceAll(text, id, "MESSAGE-"+strconv.Itoa(i+1))
		text = strings.ReplaceAll(text, id[:8], "MESSAGE"+strconv.Itoa(i+1))
	}
	text = regexp.MustCompile(`since \S+,`).ReplaceAllString(text, "since TIME,")
	text = regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d`).ReplaceAllString(text, "2026-03-01 12:00")
	for line := range strings.Lines(text) {
		if len([]rune(line)) > 81 && !strings.ContainsAny(line, "{(") && !strings.Contains(line, " aws s3api ") &&
			!strings.Contains(line, " s3://") { // payloads and details are as long as they are
			t.Errorf("%s: wider than 80 columns: %s", name, line)
		}
	}
	golden.File(t, filepath.Join(goldenFolder, name), text)
}

var goldenFolder, _ = filepath.Abs("testdata")

// grouped gives a saved letter a message group.
func (w *devWorld) grouped(id, group string) {
	w.t.Helper()
	file := filepath.Join("letters", id+".json")
	change(w.t, file, "{", `{"group": `+strconv.Quote(group)+`,`)
}

// TestQuarantine goes the whole way of messages: pull, list, show, edit, resend, replace, drop.
func TestQuarantine(t *testing.T) {
	w := newDevWorld(t)
	w.send(0, oldSale)
	w.send(1, newSale)
	w.send(2, badSale)
	w.send(3, "not JSON, of ann@example.com")
	pulled := w.run(0, "quarantine pull letters --once --local")
	ids := w.listed("")
	if len(ids) != 3 || w.quarantined() != 3 {
		t.Fatal(ids)
	}
	sameText(t, "quarantine-pull.txt", pulled.out, ids...)
	sameText(t, "quarantine-list.txt", w.run(0, "quarantine list letters").out, ids...)

	// Nothing is replaced before somebody has looked. The message has the command to do that.
	unseen := w.run(exitRefused, "quarantine resend letters --replace --yes --local", ids[0])
	if want := ids[0] +
		"  stays: the stored event was not shown yet: look at both with ingot quarantine show first: ingot quarantine show letters " +
		ids[0][:8] + " --local\n0 resent, 1 stays\n"; unseen.out != want {
		t.Errorf("%s%swant %s", unseen.out, unseen.errors, want)
	}
	w.grouped(ids[2], "ann@example.com")

	// What is personal does not show, unless it is asked for. Nor do control characters.
	conflict := w.run(3, "quarantine show letters --local", ids[0][:8])
	sameText(t, "quarantine-show.txt", conflict.out, ids...)
	for _, id := range ids {
		for _, output := range []string{"text", "json"} {
			got := w.run(3, "quarantine show letters --local --output "+output, id)
			got.lacks(t, "example.", "\x1b")
		}
	}
	w.run(3, "quarantine show letters --local --reveal", ids[0]).prints(t, "ann@example.org", "ann@example.com")

	// Nothing of it could be stored, so nothing is sent.
	stays := w.run(3, "quarantine resend letters --local")
	must.Say(t, stays.errors, "ingot: this changes ingot dev with ")
	must.Equal(t, strings.Count(stays.out, "stays: it would be"), 3)
	must.Equal(t, w.quarantined(), 3)

	change(t, filepath.Join("letters", ids[1]+".body"), `"customer`, `"at":"2026-01-02T03:04:05Z","customer`)
	w.run(3, "quarantine resend letters --local").prints(t, ids[1]+"  resent")
	w.send(2)

	w.run(2, "quarantine resend letters --replace --yes --local")
	w.run(2, "quarantine resend letters --replace --local", ids[0])
	w.run(0, "quarantine resend letters --replace --yes --local", ids[0][:8])
	w.send(1)
	w.run(2, "quarantine drop letters --local", ids[2])
	w.run(0, "quarantine drop letters --yes --local", ids[2])
	w.send(0)
	sameText(t, "quarantine-done.txt", w.run(0, "quarantine list letters").out, ids...)
	// It was dropped already. Nothing happens.
	w.run(3, "quarantine drop letters --yes --local", ids[2])
	if got := w.run(0, "quarantine resend letters --local --output json"); !strings.HasPrefix(got.out,
		"{\n  \"messages\": [],\n  \"done\": 0,\n") {
		t.Errorf("%s", got.out)
	}
}

// Of an array, show prints the events that could not be stored, and edit and resend work on them
// alone.
func TestQuarantineOfAnArray(t *testing.T) {
	w := newDevWorldOf(t, strings.Replace(letterSpec, "epoch: 1\n", "epoch: 1\nbatches: true\n", 1))
	other := strings.Replace(oldSale, `"id":1`, `"id":7`, 1)
	w.send(0, oldSale)
	w.send(1, "["+other+","+newSale+","+badSale+"]")
	ids := w.pull()
	shown := w.run(3, "quarantine show letters --local", ids[0])
	sameText(t, "quarantine-show-array.txt", shown.out, ids...)
	asJSON := w.run(3, "quarantine show letters --local --output json", ids[0])
	if strings.Contains(shown.out+asJSON.out, "example.") || !strings.Contains(asJSON.out, `"place": "[2]"`) {
		t.Errorf("%s", asJSON.out)
	}
	w.run(exitRefused, "quarantine resend letters --replace --yes --local", ids[0]).prints(t,
		"event [2] of the message: it would be Poison (missing-field)")
	file := filepath.Join("letters", ids[0]+".body")
	must.Equal(t, content(t, file), "["+newSale+","+badSale+"]")
	change(t, file, `"id":2,`, `"id":2,"at":"2026-01-02T03:04:05Z",`)
	w.run(3, "quarantine show letters --local", ids[0])
	w.run(0, "quarantine resend letters --replace --yes --local", ids[0])
	w.send(0)
	for id, cents := range map[string]string{"1": "250", "2": "5", "7": "100"} {
		w.run(0, "get sale --local --output json", "id="+id).prints(t, `\"cents\":`+cents)
	}
}

// Any editor may change the file of a body. What cannot be sent stays, whatever an editor wrote.
func TestEdit(t *testing.T) {
	w := newDevWorld(t)
	w.send(1, badSale)
	id := w.pull()[0]
	for _, c := range []struct{ text, state, today, resend string }{
		{badSale + "\n", "open", "missing-field", "it would be Poison"},
		{`{"type":"sale"}` + "\r\n", "edited", "missing-field", "it would be Poison"},
		{"", "edited", "undecodable", "the body is empty"},
		{"a\x1b", "edited", "undecodable", "the body has the character U+001B"},
		{"{\"a\":\"\xff\"}", "edited", "undecodable", "the body is not UTF-8"},
		{badSale, "open", "missing-field", "it would be Poison"},
	} {
		write(t, filepath.Join("letters", id+".body"), c.text)
		for range 2 { // show has saved what it has shown
			w.run(3, "quarantine show letters --local", id).prints(t, id+", "+c.state, "today       Poison ("+c.today+")")
		}
		resend := "quarantine resend letters --local " + id
		if c.today == "undecodable" {
			resend += " --anyway"
		}
		w.run(3, resend).prints(t, "stays: "+c.resend)
	}
	w.send(1)
}

// A folder of another stack is refused before anything happens.
func TestQuarantineOfAnotherStack(t *testing.T) {
	w := newDevWorld(t)
	w.send(1, badSale)
	file := filepath.Join("letters", w.pull()[0]+".json")
	change(t, file, `/quarantine"`, `/other"`)
	id := w.listed("")[0]
	for _, line := range []string{"show letters " + id, "resend letters " + id, "resend letters", "drop letters --yes " + id} {
		got := w.run(5, "quarantine "+line+" --local")
		got.lacks(t, "this changes")
		must.Say(t, got.errors, "which is not a queue of")
	}
}

func TestQuarantineUsage(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, line := range []string{"pull", "pull a b", "pull x --max 0 --local", "list", "list nowhere", "show x", "show x y --stack=",
		"edit x", "edit nowhere y", "resend", "drop x --yes", "drop x y", "rseend x"} {
		got := tool(t, "quarantine "+line).says(t, 2)
		must.Equal(t, got.out, "")
		must.Equal(t, strings.Count(got.errors, "\n"), 1)
	}
	tool(t, "quarantine rseend").says(t, exitUsage, "did you mean resend?")
}

// Ctrl-C is how a pull ends. It is not a failure.
func TestPullEndsAtCtrlC(t *testing.T) {
	w := newDevWorld(t)
	w.send(1, badSale)
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var out, errs bytes.Buffer
	ended := make(chan int)
	go func() {
		look := func(name string) (string, bool) { v, ok := w.env[name]; return v, ok }
		ended <- run(ctx, []string{"quarantine", "pull", "letters", "--local"}, look, strings.NewReader(""), &out, &errs)
	}()
	until(t, "the message is pulled", func() bool {
		files, _ := filepath.Glob("letters/*.json")
		return len(files) == 1
	})
	interrupt()
	if code := <-ended; code != 0 || !strings.HasSuffix(out.String(), "; 1 message visible again\n") {
		t.Errorf("exit code %d: %s%s", code, &out, &errs)
	}
	must.Equal(t, w.run(0, "quarantine pull letters --once --local").out, "letters: 0 new, 1 known; 1 message visible again\n")
}

// The dead-letter queue has a way of its own into the same folder.
func TestDeadLetters(t *testing.T) {
	w := newDevWorld(t)
	w.post(w.dev.Stack().DeadLetters, oldSale, nil)
	w.run(0, "quarantine pull letters --once --dead --local")
	w.run(0, "quarantine list letters").prints(t, "dead letter")
	w.run(0, "quarantine show letters --local", w.listed("")[0])
	w.run(0, "quarantine resend letters --local")
	w.send(0)
	must.Equal(t, w.waiting(w.dev.Stack().DeadLetters), 0)
}

// Only the ingest function reads payloads in S3. So nobody else says what such a message would be,
// and resend sends it, pointer and all.
func TestPointersInQuarantine(t *testing.T) {
	w := newDevWorld(t)
	const pointer = `["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large-payloads","s3Key":"a/b"}]`
	w.post(w.dev.Stack().DeadLetters, pointer, nil)
	w.run(0, "quarantine pull letters --once --dead --local")
	got := w.run(exitDifference, "quarantine show letters --local", w.listed("")[0])
	got.prints(t, "only the ingest function reads it", "bucket large-payloads, key a/b")
	w.run(exitRefused, "quarantine resend letters --replace --yes --local", w.listed("")[0])
	w.run(0, "quarantine resend letters --local")
	must.Equal(t, w.waiting(w.dev.Stack().DeadLetters), 0)
}

// Of a message that points to S3, send --wait knows no key. It says so, and does not call it
// refused.
func TestSendDoesNotWaitForPointers(t *testing.T) {
	w := newDevWorld(t)
	const pointer = `["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"large-payloads","s3Key":"a/b"}]`
	write(t, "events.ndjson", pointer+"\n")
	got := w.run(exitUnsure, "send events.ndjson --wait --local")
	got.prints(t, "0 events stored, 1 with the payload in S3, not waited for").lacks(t, "refused")
	w.run(exitUnsure, "send events.ndjson --wait --local --output json").prints(t, `"elsewhere": 1`)
}

// A floor refuses an event: send --wait says so, show and resend look at the total as it is now,
// and once the total has risen the message is stored.
func TestRejectedMessages(t *testing.T) {
	w := newDevWorldOf(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  received: {id: "{id}", at: "{at}", key: {pk: "IN#{id}", sk: "-"}}
  reserved: {id: "{id}", at: "{at}", key: {pk: "OUT#{id}", sk: "-"}}
aggregates:
  stock:
    since: 1
    by: {sku: "{sku}"}
    movedBy: put
    atLeast: {available: 0}
    from: {received: {values: {available: sum quantity}}, reserved: {values: {available: sum -quantity}}}
`)
	goods := func(typ string, quantity int) string {
		return fmt.Sprintf(`{"type":%q,"id":"%d","sku":"a","quantity":%d,"at":"2026-03-01T09:00:00Z"}`, typ, quantity, quantity)
	}
	for name, line := range map[string]string{"in2": goods("received", 2), "out5": goods("reserved", 5), "in4": goods("received", 4)} {
		write(t, name, line+"\n")
	}
	w.run(exitFine, "send in2 --local --wait")
	w.send(1, goods("reserved", 5))
	w.run(exitDifference, "send out5 --local --wait --wait-limit 1ms").prints(t, "0 events stored, 1 rejected, as a total is now\n")
	until(t, "both are in quarantine", func() bool { return w.quarantined() == 2 })
	ids := w.pull()
	if len(ids) != 2 {
		t.Fatalf("%d letters", len(ids))
	}
	const low = `stock of sku="a": available is 2, and with this event it would be -3, which is below its floor of 0`
	w.run(exitDifference, "quarantine show letters --local", ids[0]).prints(t, "today       Rejected (below-floor)\n", low)
	if r := w.run(exitDifference, "quarantine resend letters --yes --local"); strings.Count(r.out+r.errors,
		"it would be Rejected (below-floor) again") != 2 {
		t.Errorf("%s%s", r.out, r.errors)
	}
	w.run(exitFine, "send in4 --local --wait")
	w.run(exitFine, "quarantine show letters --local", ids[0]).prints(t, "today       Inserted\n")
	w.run(exitFine, "quarantine resend letters --yes --local") // of the same event twice
	until(t, "the event is counted", func() bool {
		return strings.Contains(w.run(exitFine, "totals stock sku=a --local").out, " 1\n")
	})
	must.Equal(t, w.quarantined(), 0)
}
