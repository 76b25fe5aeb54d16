package handler_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
)

// arrays lets messages be arrays of events.
func arrays(s *setup) { s.spec.Batches = []pipeline.BatchSpec{{Each: "."}} }

func array(events ...string) string { return "[" + strings.Join(events, ", ") + "]" }

// inGroup makes the messages those of one group of a queue.
func inGroup(e events.SQSEvent, queue string) events.SQSEvent { return inGroups(e, queue, "1") }

// inGroups gives each message the group of its letter, and then begins again.
func inGroups(e events.SQSEvent, queue, groups string) events.SQSEvent {
	for i := range e.Records {
		e.Records[i].EventSourceARN += queue
		e.Records[i].Attributes["MessageGroupId"] = string(groups[i%len(groups)])
	}
	return e
}

// of returns the verdicts of a message's events.
func of(o handler.Outcome) string {
	var names []string
	for _, e := range o.Events {
		names = append(names, e.Verdict.String())
	}
	return strings.Join(names, " ")
}

// letter takes the only letter out of quarantine, and returns it with the note beside it.
func (w *world) letter() (sqstypes.Message, quarantine.Note) {
	w.t.Helper()
	letters := w.quarantined()
	if len(letters) != 1 {
		w.t.Fatalf("%d letters", len(letters))
	}
	n, is := quarantine.ReadNote(*letters[0].MessageAttributes[quarantine.Attribute].StringValue)
	if !is {
		w.t.Fatal("there is no note")
	}
	return letters[0], n
}

// kept reports the only letter in quarantine if its body lacks one of the words.
func (w *world) kept(words ...string) {
	w.t.Helper()
	letters := w.quarantined()
	must.Equal(w.t, len(letters), 1)
	for _, letter := range letters {
		must.Say(w.t, *letter.Body, words...)
	}
}

// note returns what quarantine has written beside the only letter.
func (w *world) note() quarantine.Note {
	w.t.Helper()
	_, n := w.letter()
	return n
}

// noteText returns the note beside the only letter as "verdict places: detail".
func (w *world) noteText() string {
	w.t.Helper()
	n := w.note()
	return n.Verdict + " " + strings.Join(n.Events, " ") + ": " + n.Detail
}

// Each event of an array gets the verdict that it would get alone. The message has one verdict, and
// is done when all of its events are.
func TestIngestArrays(t *testing.T) {
	for _, queue := range []string{"", ".fifo"} {
		for name, c := range map[string]struct {
			body    string
			message string // what becomes of it
			note    string
		}{
			"all new":         {array(order("1", 1), order("2", 1)), "Inserted(Inserted Inserted)", ""},
			"one event":       {array(order("1", 1)), "Inserted(Inserted)", ""},
			"stored already":  {array(order("there", 1), order("there", 1)), "Duplicate(Duplicate Duplicate)", ""},
			"one is stored":   {array(order("there", 1), order("2", 1)), "Inserted(Duplicate Inserted)", ""},
			"one event twice": {array(order("1", 1), order("2", 1), order("1", 1)), "Inserted(Inserted Inserted Duplicate)", ""},
			"one id, two payloads": {array(order("1", 1), order("1", 2), order("2", 1)),
				"Conflict(Inserted Conflict Inserted): digest-differs",
				"Conflict [1]: event [1] of the message: another payload is stored under this key"},
			"a conflict": {array(order("there", 2), order("2", 1)), "Conflict(Conflict Inserted): digest-differs",
				"Conflict [0]: event [0] of the message: another payload is stored under this key"},
			"several that are bad": {array(order("1", 1), `{"type":"order"}`, order("2", 1), order("there", 2), `{"type":"x"}`),
				"Poison(Inserted Poison Inserted Conflict Poison): missing-field",
				"Poison [1] [3] [4]: event [1] of the message: at: field at is missing"},
			"not objects": {array(order("1", 1), `null`, `1`, `"x"`), "Poison(Inserted Poison Poison Poison): not-an-object",
				"Poison [1] [2] [3]: event [1] of the message: it is null; a payload must be a JSON object"},
			"an array in an array": {array(array(order("1", 1)), order("2", 1)), "Poison(Poison Inserted): not-an-object",
				"Poison [0]: event [0] of the message: it is an array; a payload must be a JSON object"},
			"too old": {array(`{"type":"order","id":"old","cents":1,"at":"1970-01-01T00:00:00Z"}`, order("2", 1)),
				"Expired(Expired Inserted): past-expiry", "Expired [0]: event [0] of the message: "},
		} {
			t.Run(name+queue, func(t *testing.T) {
				w := newWorld(t, arrays)
				w.receive(messages(order("there", 1)))
				before := len(w.items())
				w.gets(inGroup(messages(c.body, order("after", 1)), queue), c.message+"; Inserted")
				must.Equal(t, w.outcomes[0].Item, nil)
				inserted := strings.Count(of(w.outcomes[0]), "Inserted")
				must.Equal(t, len(w.items())-before, inserted+1)
				must.Equal(t, w.batches[0].Events[event.Inserted], inserted)
				must.Equal(t, w.batches[0].Events[event.Poison], strings.Count(of(w.outcomes[0]), "Poison"))
				if c.note == "" {
					must.Equal(t, len(w.quarantined()), 0)
					return
				}
				must.Say(t, w.noteText(), c.note)
			})
		}
	}
}

// Two revisions of one event in an array: the newer one wins, wherever it is. On a FIFO queue they
// are written one after the other, as two messages would be.
func TestIngestArrayOfRevisions(t *testing.T) {
	for queue, want := range map[string]string{"": "Inserted(Stale Inserted Stale Duplicate)",
		".fifo": "Inserted(Inserted Updated Stale Duplicate)"} {
		w := newWorld(t, arrays)
		e := inGroup(messages(array(parcel("p", 2), parcel("p", 3), parcel("p", 1), parcel("p", 3))), queue)
		w.gets(e, want)
		w.gets(e, "Duplicate(Stale Duplicate Stale Duplicate)")
	}
}

// A message that is not a usable array stores nothing, and its note names no positions.
func TestBadArrays(t *testing.T) {
	many := strings.TrimSuffix(strings.Repeat(order("1", 1)+",", 1001), ",")
	const pointer = `["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`
	for name, c := range map[string]struct {
		body    string
		without bool // the file does not say batches
		reason  string
		detail  string
	}{
		"empty": {`[]`, false, "bad-array", "the array holds no events; do not send a message without events"},
		"blank": {" [ ] \n", false, "bad-array", ""},
		"1,001 events": {"[" + many + "]", false, "bad-array",
			"the array holds 1001 events, and a message brings at most 1000; send several messages"},
		"not JSON in one event":     {array(order("1", 1), `{"type":}`), false, "undecodable", ""},
		"a name twice in one event": {array(order("1", 1), order("2", 1, `"cents":2`)), false, "undecodable", ""},
		"cut off":                   {strings.TrimSuffix(array(order("1", 1)), "]"), false, "undecodable", ""},
		"two arrays":                {array(order("1", 1)) + array(order("2", 1)), false, "undecodable", ""},
		"a pointer to S3":           {pointer, false, "payload-elsewhere", ""},
		"a file without batches": {array(order("1", 1)), true, "not-an-object",
			"the body is an array; a payload must be a JSON object"},
		"empty, without batches":     {`[]`, true, "not-an-object", ""},
		"a number, with batches":     {`1`, false, "not-an-object", ""},
		"1,000 events of other type": {"[" + strings.TrimSuffix(strings.Repeat("1,", 1001), ",") + "]", false, "bad-array", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(s *setup) {
				if !c.without {
					arrays(s)
				}
			})
			w.gets(messages(c.body), "Poison: "+c.reason)
			must.Say(t, w.noteText(), "Poison : "+c.detail)
			must.Equal(t, len(w.items()), 0)
		})
	}
	t.Run("a pointer among events", func(t *testing.T) {
		w := newWorld(t, arrays)
		w.gets(messages(array(order("1", 1), pointer)), "Poison(Inserted Poison): payload-elsewhere")
	})
}

// An array with the attributes of one CloudEvent says one id for several events.
func TestArrayBesideOneID(t *testing.T) {
	w := newWorld(t, arrays)
	e := messages(array(order("1", 1), order("2", 1)))
	attach(&e.Records[0], map[string]string{"ce-specversion": "1.0", "ce-id": "7", "ce-source": "/shop", "ce-type": "order"})
	w.gets(e, "Poison: not-an-object")
	must.Equal(t, len(w.items()), 0)
}

// refuses makes the puts of one order fail, whichever request they go in.
func refuses(id string) fault {
	return fault{API: "PutItem", Always: true, Before: &types.ResourceNotFoundException{}, Applies: func(input any) bool {
		in, ok := input.(*dynamodb.PutItemInput)
		return ok && rows.TextOf(in.Item["PK"]) == "ORDER#"+id
	}}
}

// While nothing is proven of one event, the message goes back, and no letter is sent for another
// one that can never be stored. The next delivery does the rest.
func TestArrayWithARetry(t *testing.T) {
	w := newWorld(t, arrays)
	body := array(order("1", 1), "7", order("2", 1))
	w.faults = []fault{refuses("2")}
	w.gets(messages(body), "Retry(Inserted Poison Retry): refused, back")
	must.Equal(t, len(w.quarantined()), 0)
	for _, o := range w.outcomes[0].Events {
		if !o.Failed {
			t.Error("an event of a message that goes back is said to be done")
		}
	}
	w.faults = nil
	w.gets(messages(body), "Poison(Duplicate Poison Inserted): not-an-object")
	must.Say(t, w.noteText(), "Poison [1]: ")
}

// On a FIFO queue, an array stops at the first event of which nothing is proven. What comes after
// it, in the array and in its group, goes back untouched.
func TestFIFOArrayStopsAtRetry(t *testing.T) {
	w := newWorld(t, arrays)
	w.faults = []fault{refuses("2")}
	e := inGroup(messages(array(order("1", 1), "7", order("2", 1), order("3", 1), order("4", 1)), order("5", 1), order("6", 1)), ".fifo")
	e.Records[2].Attributes["MessageGroupId"] = "another"
	w.gets(e, "Retry(Inserted Poison Retry Retry Retry): refused, back; Retry: unattempted, back; Inserted")
	left := w.outcomes[0].Events[3].Refusal
	must.Equal(t, left.Reason, event.Unattempted)
	must.Equal(t, left.Detail, "an earlier event of its array goes back, and order is kept")
	must.Match(t, w.items(), map[event.Key]int{{PK: "ORDER#1", SK: "ORDER"}: 1, {PK: "ORDER#6", SK: "ORDER"}: 1})
	must.Equal(t, len(w.quarantined()), 0)
	w.faults = nil
	w.gets(e, "Poison(Duplicate Poison Inserted Inserted Inserted): not-an-object; Inserted; Duplicate")
}

// On a FIFO queue, the events of an array are put in its order.
func TestFIFOArrayKeepsOrder(t *testing.T) {
	w := newWorld(t, arrays)
	var put []string
	w.seen = func(api string, input any) {
		if in, ok := input.(*dynamodb.PutItemInput); ok {
			put = append(put, rows.TextOf(in.Item["PK"]))
		}
	}
	var list, want []string
	for i := range 30 {
		list, want = append(list, order(fmt.Sprint(i), 1)), append(want, fmt.Sprint("ORDER#", i))
	}
	w.receive(inGroup(messages(array(list...)), ".fifo"))
	must.Match(t, put, want)
}

// The letter is sent after the other events are stored, and the message goes back if it is not
// kept.
func TestLetterOfAnArray(t *testing.T) {
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, arrays)
		w.refuse("SendMessageBatch", &smithy.GenericAPIError{Code: "AccessDenied", Message: "no"})
		var calls []string
		w.seen = func(api string, _ any) { calls = append(calls, api) }
		w.gets(inGroup(messages(array("7", order("1", 1))), queue), "Poison(Poison Inserted): not-an-object, back")
		must.Equal(t, w.outcomes[0].Events[1].Failed, true)
		must.Equal(t, len(w.items()), 1)
		if put, sent := slices.Index(calls, "PutItem"), slices.Index(calls, "SendMessageBatch"); put < 0 || sent < put {
			t.Errorf("the letter is sent before the other event is stored: %v", calls)
		}
	}
}

// What a floor refuses is business as usual, and no alarm rings for it. So an array that has an
// event with any other trouble has the verdict of that event, whichever of them comes first.
func TestTroubleOutweighsAFloor(t *testing.T) {
	for _, queue := range []string{"", ".fifo"} {
		for body, want := range map[string]string{
			array(order("1", -20), "7", order("2", 1)): "Poison(Rejected Poison Inserted): not-an-object",
			array("7", order("1", -20)):                "Poison(Poison Rejected): not-an-object",
		} {
			w := newWorld(t, arrays, moving)
			w.gets(inGroup(messages(body), queue), want)
			must.Equal(t, w.batches[0].Verdicts[event.Poison], 1, body)
			must.Equal(t, w.batches[0].Verdicts[event.Rejected], 0, body)
			n := w.note()
			must.Equal(t, n.Verdict+" "+n.Reason, "Poison not-an-object", body)
			must.Equal(t, len(n.Events), 2, body)
		}
	}
}

// The events of an array may have parts. What is stored is the same as if they had come alone.
// Together they may not yield more parts than one message may: then nothing of the message is
// stored.
func TestArrayOfWholes(t *testing.T) {
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, arrays, carts, accounts)
		must.Equal(t, w.receive(
			inGroup(messages(array(cart("a", "x", 3), account("b", "x@y", 1, 2), account("c", "x@y"), order("1", 1),
				account("d", "d@y", 1, 1))), queue)), failures())
		if got := of(w.outcomes[0]); got != "Inserted Inserted Conflict Inserted Poison" &&
			got != "Inserted Conflict Inserted Inserted Poison" {
			t.Errorf("%s", got)
		}
		inserted := w.batches[0].Parts[event.Inserted]
		if n := len(w.items()); n != 3+inserted || inserted != 3+1 && inserted != 3+3 {
			t.Errorf("%d items, %d parts", n, inserted)
		}
		if n := w.note(); len(n.Events) != 2 || n.Events[1] != "[4]" {
			t.Errorf("%+v", n)
		}

		w = newWorld(t, arrays, carts)
		for body, want := range map[string]string{
			array(cart("a", "x", 500), cart("b", "x", 500)):                                               "Inserted(Inserted Inserted)",
			array(cart("c", "x", 500), cart("d", "x", 501)):                                               "Poison: too-many-parts",
			array(cart("e", strings.Repeat("n", 30_000), 70), cart("f", strings.Repeat("n", 30_000), 80)): "Poison: too-many-parts",
		} {
			before := len(w.items())
			w.gets(inGroup(messages(body), queue), want)
			if w.verdicts() == "Poison" {
				must.Equal(t, len(w.items()), before)
			}
		}
	}
}

// Many arrays are put in turns, so the items of a batch never wait in memory all together. When the
// time to write is over, further arrays are not even planned.
func TestIngestPutsArraysInTurns(t *testing.T) {
	var bodies []string
	for i := range 30 {
		list := make([]string, 1000)
		for n := range list {
			list[n] = order(fmt.Sprint(i, "-", n), 1)
		}
		bodies = append(bodies, array(list...))
	}
	w := newWorld(t, arrays)
	must.Equal(t, w.receive(messages(bodies[:10]...)), failures())
	must.Equal(t, len(w.items()), 10_000)
	must.Equal(t, w.batches[0].Events[event.Inserted], 10_000)
	must.Equal(t, w.batches[0].Cost.Requests, 10_000/25)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, arrays)
		w.slow("BatchExecuteStatement")
		answer, err := w.handleQueue(timeout(t, 1500*time.Millisecond), messages(bodies...))
		if err != nil || len(answer.BatchItemFailures) < 20 {
			t.Fatalf("%d of 30 messages go back: %v", len(answer.BatchItemFailures), err)
		}
		untouched(t, w.outcomes[20:])
	})
}

// Events may take much more of the objects around them than their message has. They are put in
// turns too, and nothing of them stays in memory.
func TestIngestPutsEventsOfObjectsInTurns(t *testing.T) {
	note := strings.Repeat("n", 10_000)
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, func(s *setup) {
			s.spec.Batches = []pipeline.BatchSpec{{Each: "Records", With: map[string]string{"note": "note"}}}
		})
		var bodies []string
		for i := range 6 {
			list := make([]string, 351)
			for n := range list {
				list[n] = order(fmt.Sprint(i, "-", n), 1)
			}
			bodies = append(bodies, `{"note":"`+note+`","Records":`+array(list...)+`}`) // 3.5 MB of events each
		}
		must.Equal(t, w.receive(inGroup(messages(bodies...), queue)), failures(), queue)
		must.Equal(t, len(w.items()), 6*351, queue)
		if n := w.batches[0].Cost.Requests; queue == "" && n != 3*29 { // a turn for two messages
			t.Errorf("%d requests: they were not put in turns", n)
		}
		for i := range w.outcomes {
			for _, o := range w.outcomes[i].Events {
				if o.Item.Data != "" {
					t.Fatal("an outcome keeps the payload of an event")
				}
			}
		}
	}
}

// An array of a thousand events may be tiny, and what becomes of them is kept until the batch is
// reported. So after a hundred thousand of them, the other messages of a batch go back untouched.
func TestTooManyArraysForOneBatch(t *testing.T) {
	if testing.Short() {
		t.Skip("it fills memory, which the race detector multiplies")
	}
	half := strings.TrimSuffix(strings.Repeat("1,", 500), ",")
	var left []string
	for i := 100; i < 120; i++ {
		left = append(left, fmt.Sprint("m", i))
	}
	for each, body := range map[string]string{
		".":        "[" + half + "," + half + "]",
		"a[].list": `{"a":[{"list":[` + half + `]},{"list":[` + half + `]}]}`,
	} {
		for _, queue := range []string{"", ".fifo"} {
			w := newWorld(t, func(s *setup) { s.spec.Batches = []pipeline.BatchSpec{{Each: each}} })
			must.Equal(t, w.receive(inGroup(messages(slices.Repeat([]string{body}, 120)...), queue)), failures(left...), each, queue)
			must.Equal(t, w.batches[0].Events[event.Poison], 100_000, each, queue)
			must.Equal(t, len(w.quarantined()), 100)
		}
	}
}

// A lost answer, or a crash of the function, at any request: the next delivery finishes the
// message, and each event is stored once.
func TestArrayAfterAnyCrash(t *testing.T) {
	body := array(cart("0", "x", 2), order("1", 1), order("1", 2), order("2", 1), cart("a", "x", 2))
	for _, queue := range []string{"", ".fifo"} {
		for at := 1; ; at++ {
			w := newWorld(t, arrays, carts)
			calls := 0
			hit := false
			for _, api := range []string{"PutItem", "BatchExecuteStatement", "SendMessageBatch"} {
				w.faults = append(w.faults, fault{API: api, Always: true, Before: nil, After: errLost, Applies: func(any) bool {
					calls++
					hit = hit || calls == at
					return calls >= at
				}})
			}
			ctx, cancel := context.WithCancel(t.Context())
			_, err := w.handleQueue(ctx, inGroup(messages(body), queue))
			must.Succeed(t, err)
			cancel()
			w.faults, w.outcomes = nil, nil
			if !hit {
				if at < 3 {
					t.Errorf("only %d requests were met", at)
				}
				break
			}
			must.Equal(t, w.receive(inGroup(messages(body), queue)), failures(), at, queue)
			must.Equal(t, len(w.items()), 2*3+2, at, queue)
			for key, n := range w.items() {
				must.Equal(t, n, 1, key)
			}
		}
	}
}

// An SNS notification may hold an array. Its attributes are those of every event.
func TestArrayInANotification(t *testing.T) {
	w := newWorld(t, arrays)
	body := fmt.Sprintf(
		`{"Type":"Notification","MessageId":"n","TopicArn":"arn:aws:sns:eu-central-1:111122223333:t","Timestamp":"2099-03-01T09:00:01Z","Message":%q}`, array(order("1", 1), "7", order("2", 1)))
	w.gets(messages(body), "Poison(Inserted Poison Inserted): not-an-object")
	must.Say(t, w.noteText(), "Poison [1]: ")
}

// Logs say of an array what they may say of its events, and no more: a key that may be personal is
// left out, whether its event can never be stored or goes back.
func TestLogsOfArrays(t *testing.T) {
	other := body(with(person(), "weight", "1"))
	for _, queue := range []string{"", ".fifo"} {
		for _, fails := range []error{nil, &types.ResourceNotFoundException{}} {
			w, log := secretWorld(t, func(s *setup) { s.load = loaded("batches: true"+private, ownSecret) })
			if fails != nil {
				w.faults = []fault{{API: "PutItem", Always: true, Before: fails, Applies: func(input any) bool {
					return *input.(*dynamodb.PutItemInput).TableName == "events"
				}}}
			}
			w.receive(inGroup(messages(array(body(person()), other), array(body(plainEvent()), "7")), queue))
			must.Equal(t, w.verdicts(), map[bool]string{true: "Conflict Poison", false: "Retry Retry"}[fails == nil])
			must.Say(t, log.text.String(), w.outcomes[0].Verdict.String())
			log.check(t, "array"+queue)
		}
	}
}

// Events inside an object are stored and counted at their own times, however they are grouped. The
// note beside a message says where those stand that can never be stored.
func TestIngestInside(t *testing.T) {
	inside := func(s *setup) {
		s.spec.Batches = []pipeline.BatchSpec{{Each: "deliveries[].orders", With: map[string]string{"cents": "deliveries[].cents"}},
			{Each: "also", Optional: true}}
		s.spec.Drop = []string{"ping*"}
	}
	one := func(id string) string {
		return fmt.Sprintf(`{"type":"order","id":%q,"at":"2099-03-01T%s:00:00Z"}`, id, map[string]string{"a": "09", "b": "10"}[id])
	}
	for _, queue := range []string{"", ".fifo"} {
		w := newWorld(t, inside)
		both := `{"deliveries":[{"cents":5,"orders":[` + one("a") + `,` + one("b") + `]}],"also":[{"type":"ping.1"}]}`
		apart := `{"deliveries":[{"orders":[` + one("b") + `],"cents":5},{"orders":[` + one("a") + `,7],"cents":5.0},{}],"also":0}`
		e := inGroup(messages(both, apart, `{"type":"ping"}`, `{"deliveries":1}`, `{"also":1}`), queue)
		w.gets(e, "Inserted(Inserted Inserted Dropped); Poison(Duplicate Duplicate Poison Poison): not-an-object; "+
			"Dropped: unwanted; Poison: no-events; Dropped: no-events")
		must.Equal(t, w.batches[0].Failed, 0)
		must.Equal(t, w.batches[0].Verdicts[event.Dropped], 2)
		must.Equal(t, w.batches[0].Events[event.Dropped], 1)
		must.Equal(t, len(w.items()), 2)
		letters := w.quarantined()
		must.Equal(t, len(letters), 2)
		n, _ := quarantine.ReadNote(*letters[0].MessageAttributes[quarantine.Attribute].StringValue)
		must.Equal(t, fmt.Sprint(n.Reason, " ", n.Events), "not-an-object [deliveries[1].orders[1] deliveries[2]]")
		must.Say(t, n.Detail, "event deliveries[1].orders[1] of the message: it is a number")
	}
}

// Notes of earlier versions have the numbers of the elements of an array.
func TestNotesOfEarlierVersions(t *testing.T) {
	for text, want := range map[string]string{`[1,"[2]","a[0].b[3]"]`: "[1] [2] a[0].b[3]", `[]`: "", `[-1]`: "none", `[{}]`: "none",
		`7`: "none"} {
		n, is := quarantine.ReadNote(`{"verdict":"Poison","reason":"schema","detail":"","events":` + text + `}`)
		if got := strings.Join(n.Events, " "); is != (want != "none") || is && got != want {
			t.Errorf("%s: %q, %t", text, got, is)
		}
	}
}
