package handler_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/table/payloads"
)

const large = "large-payloads"

// withObjects lets the ingest function read from the bucket [large], and puts these objects there.
func (w *world) withObjects(objects map[string]string) {
	w.t.Helper()
	w.ingest.Payloads = handler.NewPayloads(w.Engine.S3(), large)
	must.Succeed(w.t, stack.CreateArchive(context.Background(), w.Engine.S3(), large))
	for key, body := range objects {
		w.putObject(large, key, body)
	}
	w.calls = map[string]int{}
}

func (w *world) putObject(bucket, key, body string) {
	w.t.Helper()
	_, err := w.Engine.S3().PutObject(context.Background(),
		&s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: strings.NewReader(body)})
	must.Succeed(w.t, err)
}

func pointer(key string) string {
	return fmt.Sprintf(`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":%q,"s3Key":%q}]`, large, key)
}

// A payload that is in S3 is stored and judged as if it had come in its message, whichever library
// wrote the pointer. One request reads it.
func TestPayloadsInS3(t *testing.T) {
	w := newWorld(t)
	w.withObjects(map[string]string{"1": order("1", 100), "2": order("2", 200), "3": order("3", 300), "bad": "hello"})
	old := strings.Replace(pointer("2"), "software.amazon.payloadoffloading.PayloadS3Pointer",
		"com.amazon.sqs.javamessaging.MessageS3Pointer", 1)
	sns := fmt.Sprintf(
		`{"Type":"Notification","MessageId":"n","TopicArn":"arn:aws:sns:r:1:t","Message":%q,"Timestamp":"2099-03-01T10:00:00Z"}`,
		pointer("3"))
	w.gets(messages(pointer("1"), old, sns, order("4", 400), pointer("bad"), order("1", 100)),
		"Duplicate; Inserted; Inserted; Inserted; Poison: undecodable; Inserted")
	must.Equal(t, w.calls["GetObject"], 4)
	must.Equal(t, w.outcomes[1].Item.Data, "")
	must.Equal(t, w.outcomes[1].Item.Key.PK, "ORDER#2")
	letter, note := w.letter()
	must.Equal(t, *letter.Body, pointer("bad"))
	must.Say(t, note.Detail, "in the object that the message points to: body")
	// The same payload comes again, in a message and by a pointer.
	w.gets(messages(order("2", 200), pointer("3")), "Duplicate; Duplicate")
	// The object was changed meanwhile: that is another event under the same key.
	w.putObject(large, "1", order("1", 101))
	w.gets(messages(pointer("1")), "Conflict: digest-differs")
	letter, _ = w.letter()
	must.Equal(t, *letter.Body, pointer("1"))
}

// A message whose object is not there may succeed later. So it goes back, and in the end to the
// dead-letter queue. Its key is in no log, because it may be personal.
func TestMissingPayloadIsRetried(t *testing.T) {
	for name, c := range map[string]struct {
		fault *fault
		calls int
		says  string
	}{
		"not there": {nil, 1, "it is not there, or the role may not read it (AccessDenied)"},
		"not there, and the role may list": {&fault{API: "GetObject", Before: &smithy.GenericAPIError{Code: "NoSuchKey"}}, 1,
			"it is not there (NoSuchKey)"},
		"forbidden": {&fault{API: "GetObject",
			Before: &smithy.GenericAPIError{Code: "AccessDenied", Message: "not authorized on arn:aws:s3:::b/secret-key"}}, 1,
			"the role may not read it (AccessDenied)"},
		"throttled": {&fault{API: "GetObject", Always: true, Before: &smithy.GenericAPIError{Code: "SlowDown", Message: "secret-key"}}, 3,
			"SlowDown"},
		"lost": {&fault{API: "GetObject", Always: true, After: errLost}, 3, "connection reset by peer"},
		"cut short": {&fault{API: "GetObject", Always: true, Edit: func(out any) {
			out.(*s3.GetObjectOutput).Body = io.NopCloser(strings.NewReader("{"))
		}}, 3, "1 bytes came of"},
		"not closed": {&fault{API: "GetObject", Always: true, Edit: func(out any) {
			out.(*s3.GetObjectOutput).ContentLength = nil
		}}, 3, "does not say how large it is"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.withObjects(nil)
			if c.fault != nil {
				w.putObject(large, "secret-key", order("1", 100))
				w.faults = []fault{*c.fault}
			}
			w.gets(messages(pointer("secret-key"), order("2", 1)), "Retry: payload-unread, back; Inserted")
			must.Equal(t, w.calls["GetObject"], c.calls)
			if log := w.log.String(); !strings.Contains(log, c.says) || strings.Contains(log, "secret-key") {
				t.Errorf("the log says %s", log)
			}
			must.Equal(t, len(w.quarantined()), 0)
			w.faults = nil
			w.putObject(large, "secret-key", order("1", 100))
			w.gets(messages(pointer("secret-key")), "Inserted")
		})
	}
}

// Any sender of messages can name any bucket. Nothing is read from one that is not allowed.
func TestPointersThatCannotBeFollowed(t *testing.T) {
	w := newWorld(t)
	w.withObjects(map[string]string{"vast": strings.Repeat(" ", payloads.Max+1), "next": pointer("vast"),
		"vaster": strings.Repeat("[],", payloads.Max/3)})
	in := func(bucket string) string { return strings.Replace(pointer("1"), large, bucket, 1) }
	// The last two have a name that begins like the bucket's, or as which it begins.
	w.gets(messages(in("other-bucket"), pointer(strings.Repeat("k", 1025)), pointer("vast"), pointer("next"), pointer("vaster"),
		in(large+"-2"), in(large[:len(large)-1])),
		"Poison: payload-elsewhere; Poison: bad-envelope; Poison: payload-too-large; Poison: bad-envelope; Poison: undecodable; "+
			"Poison: payload-elsewhere; Poison: payload-elsewhere")
	must.Say(t, w.outcomes[0].Refusal.Detail, "other-bucket", "PointerBucket", large)
	calls := w.calls["GetObject"] // the last object may have been asked for twice, because the one before left no room
	if calls < 3 || calls > 4 || len(w.quarantined()) != 7 {
		t.Errorf("%d requests", calls)
	}
	w.ingest.Payloads = nil
	w.gets(messages(pointer("1")), "Poison: payload-elsewhere")
	must.Equal(t, w.calls["GetObject"], calls)
}

// unread is a body that fails the test if anybody reads it.
type unread struct{ t *testing.T }

func (u unread) Read([]byte) (int, error) {
	u.t.Error("an object that is too large was read")
	return 0, io.EOF
}

func (u unread) Close() error { return nil }

// An object of 1 GB is not read at all: its size is declared. Its neighbour is stored.
func TestPointerToAGigabyte(t *testing.T) {
	w := newWorld(t)
	w.withObjects(map[string]string{"vast": "{}"})
	w.faults = append(w.faults, fault{API: "GetObject", Always: true, Edit: func(out any) {
		object := out.(*s3.GetObjectOutput)
		object.ContentLength, object.Body = aws.Int64(1<<30), unread{t}
	}})
	w.gets(messages(pointer("vast"), order("after", 2)), "Poison: payload-too-large; Inserted")
	must.Equal(t, w.calls["GetObject"], 1)
	must.Equal(t, len(w.items()), 1)
	must.Equal(t, len(w.quarantined()), 1)
}

// measured counts the bytes of payloads that are read and not yet put.
type measured struct {
	handler.Downloader
	held, most atomic.Int64
}

func (m *measured) GetObject(ctx context.Context, in *s3.GetObjectInput, o ...func(*s3.Options)) (*s3.GetObjectOutput, error) {
	out, err := m.Downloader.GetObject(ctx, in, o...)
	if err == nil {
		body, readErr := io.ReadAll(out.Body)
		out.Body = io.NopCloser(&counted{m, bytes.NewReader(body)})
		err = readErr
	}
	return out, err
}

type counted struct {
	m    *measured
	body io.Reader
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.body.Read(p)
	held := c.m.held.Add(int64(n))
	if held > c.m.most.Load() {
		c.m.most.Store(held)
	}
	return n, err
}

// A batch may point to far more than memory holds. Payloads are read while there is room, put, and
// let go of, until all of them are done. Nothing goes back for that.
func TestPayloadsBeyondMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills memory, which the race detector multiplies")
	}
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t)
		objects := map[string]string{}
		var bodies []string
		for i := range 10 {
			id := fmt.Sprint(i)
			// Most of the object is an attribute of the envelope, which is not stored.
			objects[id] = fmt.Sprintf(`{"specversion":"1.0","id":%q,"source":"s","type":"order","big":%q,"data":%s}`, id,
				strings.Repeat("x", 5<<20), order(id, i))
			bodies = append(bodies, pointer(id))
		}
		w.withObjects(objects)
		m := &measured{Downloader: w.Engine.S3()}
		w.ingest.Payloads = handler.NewPayloads(m, large)
		w.seen = func(api string, _ any) {
			if strings.HasPrefix(api, "PutItem") || api == "BatchExecuteStatement" {
				m.held.Store(0)
			}
		}
		w.gets(inGroups(messages(bodies...), queue, "0123456789"), strings.Repeat("Inserted; ", 9)+"Inserted")
		if most := m.most.Load(); most > payloads.Max || most < 5<<20 {
			t.Errorf("%d bytes of payloads were in memory at once, from a queue %s", most, queue)
		}
	}
}

// When the time for writing is over, the messages that are left go back untouched.
func TestPayloadsWhenTimeIsOver(t *testing.T) {
	w := newWorld(t)
	objects := map[string]string{}
	var bodies []string
	for i := range 250 {
		objects[fmt.Sprint(i)] = order(fmt.Sprint(i), i)
		bodies = append(bodies, pointer(fmt.Sprint(i)))
	}
	w.withObjects(objects)
	ctx, stop := context.WithCancel(context.Background())
	w.seen = func(api string, _ any) {
		if api == "BatchExecuteStatement" {
			stop()
		}
	}
	response, err := w.handleQueue(ctx, messages(bodies...))
	if err != nil || len(response.BatchItemFailures) < 150 {
		t.Fatalf("%d go back, %v", len(response.BatchItemFailures), err)
	}
	for _, o := range w.outcomes[100:] {
		if o.Verdict != event.Retry || o.Refusal.Reason != event.Unattempted {
			t.Fatalf("%s: %v", o.Verdict, o.Refusal)
		}
	}
	must.Equal(t, w.calls["GetObject"], 100)
}

// The object may hold an array of events, as a message may. A pointer among events is not followed.
func TestArraysInS3(t *testing.T) {
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, arrays)
		w.withObjects(map[string]string{"1": array(order("1", 1), `{"type":"order"}`, order("2", 2), pointer("2")), "2": order("3", 3)})
		w.gets(inGroup(messages(pointer("1")), queue), "Poison(Inserted Poison Inserted Poison): missing-field")
		must.Equal(t, w.calls["GetObject"], 1)
		for _, o := range w.outcomes[0].Events {
			if o.Item != nil && o.Item.Data != "" {
				t.Error("a payload is kept in memory")
			}
		}
		must.Equal(t, w.outcomes[0].Events[3].Refusal.Reason, event.PayloadElsewhere)
		must.Say(t, w.outcomes[0].Events[3].Refusal.Detail, "only if it is the whole message")
		must.Say(t, w.noteText(), "Poison [1] [3]: ")
		w.gets(inGroup(messages(pointer("1")), queue), "Poison(Duplicate Poison Duplicate Poison): missing-field")
	}
}

// On a FIFO queue, a message whose payload cannot be read holds back the rest of its group.
func TestPayloadsKeepOrder(t *testing.T) {
	w := newWorld(t)
	w.withObjects(map[string]string{"1": parcel("p", 1), "3": parcel("p", 3)})
	e := messages(pointer("1"), pointer("2"), pointer("3"), parcel("q", 1))
	w.gets(inGroups(e, ".fifo", "pppq"), "Inserted; Retry: payload-unread, back; Retry: unattempted, back; Inserted")
}

// A group goes on after a payload in S3, whatever stands before and after it, and whatever other
// groups do.
func TestGroupsGoOnAfterPointers(t *testing.T) {
	w := newWorld(t)
	w.withObjects(map[string]string{"2": parcel("p", 2), "4": parcel("p", 4), "bad": "hello"})
	e := messages(parcel("p", 1), pointer("2"), parcel("p", 3), pointer("4"), parcel("p", 5),
		parcel("q", 1), pointer("missing"), parcel("q", 3),
		pointer("bad"), parcel("r", 1))
	w.gets(inGroups(e, ".fifo", "pppppqqqrr"), "Inserted; Updated; Updated; Updated; Updated; "+
		"Inserted; Retry: payload-unread, back; Retry: unattempted, back; Poison: undecodable; Inserted")
}

// The attributes of the message stay with it, in quarantine too.
func TestPointerWithAttributes(t *testing.T) {
	w := newWorld(t)
	w.withObjects(map[string]string{"1": `{"id":"1","cents":1}`})
	e := messages(pointer("1"))
	attach(&e.Records[0], map[string]string{"ce-specversion": "1.0", "ce-id": "1", "ce-source": "s", "ce-type": "order"})
	e.Records[0].MessageAttributes["ExtendedPayloadSize"] = events.SQSMessageAttribute{DataType: "Number", StringValue: aws.String("20")}
	w.gets(e, "Poison: missing-field") // without a time
	letter, _ := w.letter()
	must.Equal(t, *letter.MessageAttributes["ExtendedPayloadSize"].StringValue, "20")
	w.putObject(large, "1", `{"id":"1","cents":1,"at":"2099-03-01T10:00:00Z"}`)
	w.gets(e, "Inserted")
}

// A reader that closes nothing would run out of connections.
func TestPayloadsAreClosed(t *testing.T) {
	for name, edit := range map[string]func(*s3.GetObjectOutput){
		"read": func(*s3.GetObjectOutput) {}, "too large": func(o *s3.GetObjectOutput) { o.ContentLength = aws.Int64(payloads.Max + 1) },
		"fails": func(o *s3.GetObjectOutput) { o.Body = io.NopCloser(io.MultiReader()) },
	} {
		w := newWorld(t)
		w.withObjects(map[string]string{"1": order("1", 1)})
		opened, closed := 0, 0
		w.faults = []fault{{API: "GetObject", Always: true, Edit: func(out any) {
			o := out.(*s3.GetObjectOutput)
			edit(o)
			opened++
			o.Body = &closing{o.Body, &closed}
		}}}
		w.receive(messages(pointer("1")))
		if opened == 0 || closed != opened {
			t.Errorf("%s: %d bodies of %d are closed", name, closed, opened)
		}
	}
}

type closing struct {
	io.ReadCloser
	closed *int
}

func (c *closing) Close() error {
	*c.closed++
	return errors.Join(c.ReadCloser.Close())
}
