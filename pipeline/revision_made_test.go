package pipeline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const madeRevision = `ingot: 1
epoch: 1
events:
  doc: {id: "{id}", mode: latest, revision: %s, key: {pk: "DOC#{id}", sk: "-"}}
`

// inCloudEvent puts a payload into an envelope with a time.
func inCloudEvent(at, payload string) envelope.Message {
	return envelope.Message{Body: `{"specversion":"1.0","id":"e","source":"s","type":"doc","time":"` + at + `","data":` + payload + `}`}
}

// A revision that a template makes orders versions as the values behind their spellings.
func TestRevisionsThatTemplatesMake(t *testing.T) {
	const early, late = "2026-03-01T09:00:00+01:00", "2026-03-01T08:00:00.000000001Z"
	for revision, c := range map[string]struct{ older, newer string }{
		`"{v | pad:9}"`:                   {`"v":"9"`, `"v":10`},
		`"{v | number}"`:                  {`"v":"-1.5"`, `"v":"1e1"`},
		`"{v | trim | number}"`:           {`"v":" 9 "`, `"v":" 10"`},
		`"{v | unixms}"`:                  {`"v":999`, `"v":"1000"`},
		`"{v | utc}"`:                     {`"v":"2026-03-01 09:00:00"`, `"v":"2026-03-01T09:00:00.1"`},
		`"{v}"`:                           {`"v":"` + early + `"`, `"v":"` + late + `"`},
		`"{@at}"`:                         {`"v":0`, `"v":0`},
		`["{v | pad:3}", "{w | number}"]`: {`"v":"7","w":"9"`, `"v":7,"w":"10"`},
		`["{v | pad:3}", "{w | number}", x number]`: {`"v":7`, `"v":7,"w":"-10"`},
		`[x number, "{v | pad:3}"]`:                 {`"x":1,"v":"9"`, `"x":1,"v":"10"`},
	} {
		p := mustLoad(t, fmt.Sprintf(madeRevision, revision))
		older, err := p.Plan(inCloudEvent(early, `{"id":1,`+c.older+`}`))
		must.Succeed(t, err)
		newer, err := p.Plan(inCloudEvent(late, `{"id":1,`+c.newer+`}`))
		must.Succeed(t, err)
		if !newer.NewerThan(older) || older.NewerThan(newer) {
			t.Errorf("%s: %s %q and %s %q", revision, older.Revision, older.Ties, newer.Revision, newer.Ties)
		}
		if ties, err := p.Ties("doc", newer.Data); err != nil || ties != newer.Ties {
			t.Errorf("%s: the stored payload says %q, %v, and the item %q", revision, ties, err, newer.Ties)
		}
		again, err := New(p.Describe().Spec)
		must.Succeed(t, err)
		must.Equal(t, again.Describe().Spec.Events["doc"].Revision, p.Describe().Spec.Events["doc"].Revision)
	}
	p := mustLoad(t, fmt.Sprintf(madeRevision, `"{v | pad:3}"`))
	for payload, want := range map[string]event.Reason{`{"id":1}`: event.MissingField, `{"id":1,"v":"x"}`: event.WrongType,
		`{"id":1,"v":1000}`: event.NumberOutOfRange} {
		_, err := p.Plan(inCloudEvent(early, payload))
		if r := event.RefusalOf(err); r == nil || r.Reason != want || !strings.HasPrefix(r.Detail, "revision: ") {
			t.Errorf("%s: %v, want %s", payload, err, want)
		}
	}
}

func TestMistakesInMadeRevisions(t *testing.T) {
	for revision, want := range map[string]string{
		`"{v | first:3}"`:           `{v | first:3} does not make a number or a time`,
		`"{v | lower}"`:             "does not make a number or a time",
		`"v{v | pad:3}"`:            `"v{v | pad:3}" does not say its type`,
		`"{v | pad:3}#{w}"`:         "a revision is one value",
		`"{v | pad:3 | rev}"`:       "does not make a number or a time",
		`[v number, "{@at}"]`:       "the time of the event does not break ties",
		`"{@id}"`:                   "revision cannot use @id",
		`"{v | number} descending"`: "a revision is one value",
	} {
		refused(t, fmt.Sprintf(madeRevision, revision), want)
	}
}
