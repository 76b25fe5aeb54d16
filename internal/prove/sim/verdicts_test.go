package sim

import (
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/prove/sim/model"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// judged returns a world with one invocation. It began when the events of before were stored, one
// after the other, and went on until those of after were. An event without an id stands for a
// removal.
func judged(t *testing.T, before, after []model.Fact) (*World, *invocation) {
	w := newWorld(StillPlan(1), false)
	t.Cleanup(w.KillAll)
	var live *model.Image
	store := func(list []model.Fact) {
		for _, f := range list {
			c := &model.Change{Old: live, New: &model.Image{Fact: f}}
			if f.ID == "" {
				c.New = nil
			}
			w.model.Remember(c)
			live = c.New
		}
	}
	store(before)
	inv := &invocation{began: w.model.Records, wrote: map[write]int{}}
	inv.Invocation = stage.Invocation{Name: "ingest-1", Faults: 1, Notes: inv}
	store(after)
	w.Current = &task{Of: &inv.Invocation}
	return w, inv
}

func order(cents int64) model.Fact {
	return model.Fact{Type: "order", ID: "1", Merchant: "m1", Cents: cents, At: stage.Origin.Format(time.RFC3339)}
}

func parcel(revision, cents int64) model.Fact {
	f := order(cents)
	f.Type, f.Rev = "parcel", revision
	return f
}

func gift(f model.Fact) model.Fact {
	f.Gift = true
	return f
}

// TestUndeserved shows which verdicts each past of a key allows.
func TestUndeserved(t *testing.T) {
	type facts = []model.Fact
	removed, retain := model.Fact{}, (&Plan{}).retain()
	tests := map[string]struct {
		before, after facts
		wrote         []write
		of            model.Fact
		age           time.Duration // of the event
		allowed       string
		unanswered    bool
	}{
		"a free key":                       {of: order(1), allowed: "Retry"},
		"a free key, its time just not up": {of: order(1), age: retain - early - time.Second, allowed: "Retry"},
		"a free key, its time up":          {of: order(1), age: retain - early, allowed: "Expired Retry"},
		"its time up, a put unanswered":    {of: order(1), age: retain, unanswered: true, allowed: "Retry"},
		"written": {after: facts{order(1)}, wrote: []write{{order(1), "Inserted"}}, of: order(1),
			allowed: "Inserted Duplicate Retry"},
		"there before":              {before: facts{order(1)}, of: order(1), allowed: "Duplicate Retry"},
		"there before, its time up": {before: facts{order(1)}, of: order(1), age: retain, allowed: "Duplicate Retry"},
		"gone before, its time up":  {before: facts{order(1), removed}, of: order(1), age: retain, allowed: "Expired Retry"},
		"gone meanwhile, its time up": {before: facts{order(1)}, after: facts{removed}, of: order(1), age: retain,
			allowed: "Duplicate Expired Retry"},
		"another there":              {before: facts{order(2)}, of: order(1), allowed: "Conflict Retry"},
		"another there, its time up": {before: facts{order(2)}, of: order(1), age: retain, allowed: "Conflict Retry"},
		"another meanwhile":          {after: facts{order(2), removed}, of: order(1), allowed: "Conflict Retry"},
		"another before":             {before: facts{order(2), removed}, of: order(1), allowed: "Retry"},
		"replaced": {before: facts{parcel(1, 1)}, after: facts{parcel(2, 1)},
			wrote: []write{{parcel(2, 1), "Updated"}}, of: parcel(2, 1), allowed: "Updated Duplicate Retry"},
		"a newer revision":                {before: facts{parcel(3, 1)}, of: parcel(2, 1), allowed: "Stale Retry"},
		"an older revision":               {before: facts{parcel(1, 1)}, of: parcel(2, 1), allowed: "Retry"},
		"an older revision, its time up":  {before: facts{parcel(1, 1)}, of: parcel(2, 1), age: retain, allowed: "Expired Retry"},
		"the same revision, another text": {before: facts{parcel(2, 2)}, of: gift(parcel(2, 2)), allowed: "Conflict Retry"},
		"the same revision, a higher tie": {before: facts{parcel(2, 2)}, of: parcel(2, 1), allowed: "Stale Retry"},
		"the same revision, a lower tie":  {before: facts{parcel(2, 1)}, of: parcel(2, 2), allowed: "Retry"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, inv := judged(t, test.before, test.after)
			for _, one := range test.wrote {
				inv.wrote[one]++
			}
			if w.Now = test.of.Time().Add(test.age); test.unanswered {
				w.unanswer(inv, test.of)
			}
			got := ""
			for _, verdict := range []string{"Inserted", "Updated", "Duplicate", "Stale", "Conflict", "Expired", "Poison",
				"Unheard", "Retry"} {
				if w.verdicts.undeserved(inv, &message{body: "b", fact: test.of}, verdict) == "" {
					got += " " + verdict
				}
			}
			if got != " "+test.allowed {
				t.Errorf("allowed are%s, want %s", got, test.allowed)
			}
		})
	}
	w, inv := judged(t, nil, nil)
	w.sent["n"] = &message{body: "n", fact: parcel(2, 1)}
	for name, test := range map[string]struct {
		of      model.Fact
		faults  int
		left    time.Duration
		allowed bool
	}{
		"trouble":                {order(1), 1, functionTimeout, true},
		"no time":                {order(1), 0, time.Second, true},
		"a newer one beside it":  {parcel(1, 1), 0, functionTimeout, true},
		"an older one beside it": {parcel(3, 1), 0, functionTimeout, false},
		"nothing":                {order(1), 0, functionTimeout, false},
	} {
		inv.Faults, inv.Deadline, inv.messages = test.faults, w.Now.Add(test.left), []events.SQSMessage{{Body: "n"}}
		if why := w.verdicts.undeserved(inv, &message{body: "b", fact: test.of}, "Retry"); (why == "") != test.allowed {
			t.Errorf("Retry with %s: %q", name, why)
		}
	}
	inv.Faults, inv.messages = 1, nil
	broken := &message{body: "{", malformed: true}
	if w.verdicts.undeserved(inv, broken, "Poison") != "" || w.verdicts.undeserved(inv, broken, "Retry") != "" ||
		w.verdicts.undeserved(inv, broken, "Expired") == "" {
		t.Error("what cannot be read is Poison, or comes again")
	}
}

// TestCheckLetter shows that a correct letter passes, and that every wrong part of a letter is
// found.
func TestCheckLetter(t *testing.T) {
	const rightly = `{"verdict":"Conflict","reason":"digest-differs","detail":"d","pk":"ORDER#1","sk":"ORDER"}`
	type letter = sqstypes.SendMessageBatchRequestEntry
	textual := func(s string) sqstypes.MessageAttributeValue {
		return sqstypes.MessageAttributeValue{DataType: aws.String("String"), StringValue: &s}
	}
	say := func(note string) func(*letter) {
		return func(l *letter) { l.MessageAttributes["ingot"] = textual(note) }
	}
	tests := map[string]struct {
		change func(*letter)
		broken bool
	}{
		"right":                {func(*letter) {}, false},
		"another body":         {func(l *letter) { l.MessageBody = aws.String("c") }, true},
		"no note":              {func(l *letter) { delete(l.MessageAttributes, "ingot") }, true},
		"an attribute less":    {func(l *letter) { delete(l.MessageAttributes, "trace") }, true},
		"another attribute":    {func(l *letter) { l.MessageAttributes["trace"] = textual("u") }, true},
		"an attribute more":    {func(l *letter) { l.MessageAttributes["more"] = textual("u") }, true},
		"no JSON":              {say("Conflict"), true},
		"another verdict":      {say(`{"verdict":"Poison","reason":"undecodable","detail":"d","pk":"ORDER#1","sk":"ORDER"}`), true},
		"another reason":       {say(`{"verdict":"Conflict","reason":"past-expiry","detail":"d","pk":"ORDER#1","sk":"ORDER"}`), true},
		"no detail":            {say(`{"verdict":"Conflict","reason":"digest-differs","pk":"ORDER#1","sk":"ORDER"}`), true},
		"another key":          {say(`{"verdict":"Conflict","reason":"digest-differs","detail":"d","pk":"ORDER#2","sk":"ORDER"}`), true},
		"a record's, not ours": {func(l *letter) { l.MessageBody = aws.String(`{"sequenceNumbers":["1"]}`) }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w, inv := judged(t, []model.Fact{order(2)}, nil)
			w.sent["b"] = &message{body: "b", fact: order(1)}
			inv.messages = []events.SQSMessage{{Body: "b",
				MessageAttributes: map[string]events.SQSMessageAttribute{"trace": {DataType: "String", StringValue: aws.String("t")}}}}
			l := &letter{MessageBody: aws.String("b"), MessageAttributes: map[string]sqstypes.MessageAttributeValue{"trace": textual("t"),
				"ingot": textual(rightly)}}
			test.change(l)
			w.notes.checkLetter(l)
			if w.Failure == nil && *l.MessageBody == "b" {
				inv.kept = map[string]int{"b": 1}
				if w.notes.checkLetter(l); test.broken || w.Failure == nil || w.Failure.Check != Cost {
					t.Errorf("nothing is wrong with it but that it is sent again: %v", w.Failure)
				}
				return
			}
			if broken := w.Failure != nil; broken != test.broken || broken && w.Failure.Check != Undeserved {
				t.Errorf("failure: %v", w.Failure)
			}
		})
	}
}

// TestDuring shows what a key held since a record, including what it held at that record.
func TestDuring(t *testing.T) {
	a, b := &model.Image{PK: "a"}, &model.Image{PK: "b"}
	h := &model.History{States: []model.State{{Image: a, Since: 3}, {Since: 5}, {Image: b, Since: 8}}}
	for since, want := range map[int][]*model.Image{0: {nil, a, nil, b}, 2: {nil, a, nil, b}, 3: {a, nil, b}, 4: {a, nil, b}, 5: {nil, b},
		7: {nil, b}, 8: {b}, 9: {b}} {
		if got := h.During(since); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("since %d: %v, want %v", since, got, want)
		}
	}
	if got := (*model.History)(nil).During(0); len(got) != 1 || got[0] != nil {
		t.Errorf("a key that never held anything: %v", got)
	}
}
