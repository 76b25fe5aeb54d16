package demo

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
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
		"milliseconds":  {id: "{id}", at: "{t | unixms}", k: 1, body: `{"id":"a","t":1517363399650}`, want: `{"id":"a~1","t":1517968199650}`},
		"seconds":       {id: "{id}", at: "{t | unix}", k: 1, body: `{"id":"a","t":1517363399.65}`, want: `{"id":"a~1","t":1517968199.65}`},
		"numeric text":  {id: "{id}", at: "{t | unix}", k: 1, body: `{"id":"a","t":"1517363399"}`, want: `{"id":"a~1","t":"1517968199"}`},
		"number as id":  {id: "{m}#{id}", at: "{t | unix}", k: 3, body: `{"id":17,"m":"x","t":0}`, want: `{"id":"17~3","m":"x","t":1814400}`},
		"in an array":   {id: "{ids[1]}", at: "{t | unix}", k: 1, body: `{"ids":["a","b"],"t":0}`, want: `{"ids":["a","b~1"],"t":604800}`},
		"odd names":     {id: `{["i\"d"]}`, at: "{t | unix}", k: 1, body: `{"i\"d":"a","t":0}`, want: `{"i\"d":"a~1","t":604800}`},
		"no time":       {id: "{id}", at: "{t | unix}", k: 1, body: `{"id":"a","t":1e300000}`, err: "1e300000 is no time"},
		"no id field":   {id: "{@digest}", at: "{t | unix}", k: 1, body: `{"t":0}`, err: "its id reads no field"},
		"no time field": {id: "{id}", k: 1, body: `{"id":"a"}`, err: "its time is no field"},
		"envelope": {id: "{id}", at: "{t | unix}", k: 1, err: "an event in an envelope (CloudEvent (structured))",
			body: `{"specversion":"1.0","id":"1","source":"s","type":"e","data":{"id":"a","t":0}}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := &Copier{rules: map[string]copyRule{"e": newCopyRule(test.id, test.at)}}
			got, err := c.copy(test.body, "e", test.k)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %s (%v), want %s", got, err, test.want)
			}
		})
	}
}

// TestRepeat: copies are other events, a week apart.
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
	if first.Stored != later.Stored {
		t.Errorf("the third copy counts %s on a day of which the first counts %s", later.Stored, first.Stored)
	}
}
