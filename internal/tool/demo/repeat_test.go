package demo

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
)

func TestCopies(t *testing.T) {
	for name, test := range map[string]struct {
		id, at, body string
		k            int
		want         string
		err          string
	}{
		"text time": {id: "{a.id}", at: "{at}", k: 2,
			body: `{"x": [1, 2.50], "a": {"id": "q~", "é": null}, "at": "2018-02-01T23:00:00+01:00"}`,
			want: `{"x":[1, 2.50],"a":{"id":"q~~2","é":null},"at":"2018-02-15T22:00:00Z"}`},
		"milliseconds": {id: "{id}", at: "{t | unixms}", k: 1, body: `{"id":"a","t":1517363399650}`,
			want: `{"id":"a~1","t":1517968199650}`},
		"seconds":      {id: "{id}", at: "{t | unix}", k: 1, body: `{"id":"a","t":1517363399.65}`, want: `{"id":"a~1","t":1517968199.65}`},
		"numeric text": {id: "{id}", at: "{t | unix}", k: 1, body: `{"id":"a","t":"1517363399"}`, want: `{"id":"a~1","t":"1517968199"}`},
		"number as id": {id: "{m}#{id}", at: "{t | unix}", k: 3, body: `{"id":17,"m":"x","t":0}`,
			want: `{"id":"17~3","m":"x","t":1814400}`},
		"in an array": {id: "{ids[1]}", at: "{t | unix}", k: 1, body: `{"ids":["a","b"],"t":0}`, want: `{"ids":["a","b~1"],"t":604800}`},
		"odd names":   {id: `{["i\"d"]}`, at: "{t | unix}", k: 1, body: `{"i\"d":"a","t":0}`, want: `{"i\"d":"a~1","t":604800}`},
		"no time":     {id: "{id}", at: "{t | unix}", k: 1, body: `{"id":"a","t":1e300000}`, err: "outside of the years"},
		"mail": {id: "{id}", at: "{t | rfc2822}", k: 1, body: `{"id":"a","t":"Wed, 20 Jul 2016 20:44:36 +0000"}`,
			want: `{"id":"a~1","t":"Wed, 27 Jul 2016 20:44:36 +0000"}`},

		"no id field":   {id: "{@digest}", at: "{t | unix}", k: 1, body: `{"t":0}`, err: "its id reads no field"},
		"no time field": {id: "{id}", k: 1, body: `{"id":"a"}`, err: "its time is not a field"},
		"envelope": {id: "{id}", at: "{t | unix}", k: 1, err: "it comes in an envelope (CloudEvent (structured))",
			body: `{"specversion":"1.0","id":"1","source":"s","type":"e","data":{"id":"a","t":0}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := copier{"e": newCopyRule(test.id, test.at)}
			got, err := c.copy(envelope.Message{Body: test.body}, "e", test.k)
			if test.err != "" {
				must.Fail(t, err, test.err)
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
}

// TestLinesThatCannotBeRepeated shows lines that cannot be repeated although nothing in them needs
// to be mended.
func TestLinesThatCannotBeRepeated(t *testing.T) {
	const taken = `ingot: 1
epoch: 1
type: "{type}"
events:
  photo: {id: "%s", at: "%s", key: {pk: "PHOTO#{@id}", sk: "PHOTO"}}
`
	const line = `{"type":"photo","name":"a","taken_at":1517363399}`
	for name, c := range map[string]struct{ id, at, line, want string }{
		"in an envelope": {"{name}", "{taken_at | unix}",
			`{"Type":"Notification","MessageId":"1","TopicArn":"arn:aws:sns:eu-west-1:1:t","Message":"{\"type\":\"photo\",\"name\":\"a\",\"taken_at\":1517363399}","Timestamp":"2018-01-31T00:00:00Z"}`,
			"it comes in an envelope (SNS"},
		"id made of its time": {"{name}#{taken_at}", "{taken_at | unix}", line,
			"a copy has ~k appended to field taken_at and is k weeks later, and the pipeline does not take that (Poison"},
		"number as id":    {"{taken_at | pad:12}", "{taken_at | unix}", line, "a copy has ~k appended to field taken_at"},
		"id of no field":  {"{@digest}", "{taken_at | unix}", line, "its id reads no field of the payload"},
		"the end of time": {"{name}", "{taken_at | unix}", `{"type":"photo","name":"a","taken_at":253402300000}`, "does not take that"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Run(context.Background(), Config{Data: lines("f.ndjson", c.line),
				Plan: written.Pipeline(t, fmt.Sprintf(taken, c.id, c.at)), Repeat: 2})
			if err == nil {
				t.Fatal("it ran")
			}
			if text := err.Error(); !strings.Contains(text, "f.ndjson:1: it cannot be repeated: ") || !strings.Contains(text, c.want) ||
				!strings.HasSuffix(text, "; leave --repeat away") || strings.Contains(text, "correct that line") {
				t.Errorf("it says: %s", text)
			}
		})
	}
}

// TestRepeat shows that copies are other events, a week apart.
func TestRepeat(t *testing.T) {
	c := firstDays(t, aggregate.Marks)
	c.Repeat = 3
	s := mustRun(t, c)
	agree(t, s)
	if s.Data.Events != 900 || s.Kept.Items != 900 || s.Data.Copies != 3 || s.Expiry.Swept != 900 {
		t.Errorf("%d events, %d items, %d copies, %d swept", s.Data.Events, s.Kept.Items, s.Data.Copies, s.Expiry.Swept)
	}
	first := find(t, s, "network_day", "ci", "2018-01-31T00:00:00Z", "count")
	later := find(t, s, "network_day", "ci", "2018-02-14T00:00:00Z", "count")
	must.Equal(t, first.Stored, later.Stored)
}
