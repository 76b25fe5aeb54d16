package quarantine_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	record "github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
)

// Fields are set in the payload, wherever it is in its envelope. Everything else keeps its
// spelling.
func TestSetFields(t *testing.T) {
	const (
		plain   = `{ "type":"sale", "id":1, "big":12345678901234567890.10, "who":{"a":"\u00e9"} }`
		changed = `{"type":"sale","id":1,"big":12345678901234567890.10,"who":{"a":"\u00e9","b":{"c":null}},"at":"x\"y"}`
		outer   = `"version":"0","id":"e","detail-type":"sale","source":"s","account":"1","time":"2030-01-02T03:00:00Z","region":"r","resources":[]`
		cloud   = `"specversion":"1.0","id":"e","source":"s","type":"sale"`
	)
	tight := func(s string) string {
		return strings.NewReplacer(`{ "`, `{"`, `, "`, `,"`, ` }`, `}`).Replace(s)
	}
	coded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	for name, c := range map[string]struct{ before, after string }{
		"bare":        {plain, changed},
		"EventBridge": {`{` + outer + `,"detail":` + plain + `}`, `{` + outer + `,"detail":` + changed + `}`},
		"EventBridge, CloudEvent": {`{` + outer + `,"detail":{` + cloud + `,"data":` + plain + `}}`,
			`{` + outer + `,"detail":{` + cloud + `,"data":` + changed + `}}`},
		"CloudEvent": {`{` + cloud + `,"data":` + plain + `}`, `{` + cloud + `,"data":` + changed + `}`},
		"CloudEvent in base64": {`{` + cloud + `,"data":null,"data_base64":"` + coded(plain) + `"}`, `{` + cloud +
			`,"data":null,"data_base64":"` + coded(changed) + `"}`},
		"notification": {inNotification(plain), inNotification(changed)},
		"notification of a CloudEvent": {inNotification(`{` + cloud + `,"data":` + plain + `}`),
			inNotification(`{` + cloud + `,"data":` + changed + `}`)},
		"array":                   {`[` + plain + ` , ` + plain + `]`, `[` + changed + `,` + changed + `]`},
		"array in a notification": {inNotification(`[` + plain + `]`), inNotification(`[` + changed + `]`)},
		"array of CloudEvents and bare": {`[{` + cloud + `,"data":` + plain + `},` + plain + `]`, `[{` + cloud + `,"data":` + changed +
			`},` + changed + `]`},
	} {
		l := &quarantine.Letter{Body: c.before}
		got, err := l.Set([]quarantine.Assignment{{Field: path("at"), Value: `"x\"y"`}, {Field: path("who.b.c"), Value: "null"}})
		if err != nil || tight(got) != tight(c.after) {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.after)
		}
	}
}

func path(text string) event.Path {
	p, err := event.ParsePath(text)
	if err != nil {
		panic(err)
	}
	return p
}

// inNotification puts a text into a notification, as notification does, and escapes it.
func inNotification(text string) string {
	quoted := event.Quote(text)
	return strings.Replace(notification("MESSAGE"), `"MESSAGE"`, quoted, 1)
}

func TestFieldsThatCannotBeSet(t *testing.T) {
	for body, want := range map[string]string{
		"not JSON":     "body: ",
		`"text"`:       "the body is a string",
		`{"at":"x"}`:   "field at.hour cannot be set: what is around it is not an object",
		`[{"at":1},7]`: "event [0] of what is sent: field at.hour cannot be set",
		`[7]`:          "event [0] of what is sent: it is a number",
		`["software.amazon.payloadoffloading.PayloadS3Pointer",{"s3BucketName":"b","s3Key":"k"}]`: "its payload is in S3",
	} {
		l := &quarantine.Letter{Body: body}
		got, err := l.Set([]quarantine.Assignment{{Field: path("at.hour"), Value: "1", Overwrite: true}})
		must.Fail(t, err, want)
		must.Equal(t, got, "", body)
	}
}

// A value that is there stays, unless it is to be overwritten: what a message lacks may be another
// field. A field that is null or empty text has no value, as for the event itself.
func TestSetFillsOnlyWhatIsMissing(t *testing.T) {
	eur, id := quarantine.Assignment{Field: path("currency"), Value: `"EUR"`}, quarantine.Assignment{Field: path("buyer.id"), Value: "7"}
	for body, want := range map[string]string{
		`{"currency":"USD","buyer":{"id":false}}`: "", `{"currency":0,"buyer":{"id":1}}`: "",
		`{"currency":"USD"}`:                                       `{"currency":"USD","buyer":{"id":7}}`,
		`{"currency":null,"buyer":{"id":1}}`:                       `{"currency":"EUR","buyer":{"id":1}}`,
		`{"currency":"","buyer":{"id":1}}`:                         `{"currency":"EUR","buyer":{"id":1}}`,
		`[{"buyer":7,"currency":"USD"},"text",{"buyer":{"id":1}}]`: `[{"buyer":7,"currency":"USD"},"text",{"buyer":{"id":1},"currency":"EUR"}]`,
		`[{"currency":"USD","buyer":{"id":1}},{"buyer":{"id":1}}]`: `[{"currency":"USD","buyer":{"id":1}},{"buyer":{"id":1},"currency":"EUR"}]`,
	} {
		got, err := (&quarantine.Letter{Body: body}).Set([]quarantine.Assignment{eur, id})
		if got != want || (err != nil) != (want == "") || err != nil && !strings.Contains(err.Error(), "--overwrite") {
			t.Errorf("%s: %s, %v; want %s", body, got, err, want)
		}
	}
	eur.Overwrite = true
	got, err := (&quarantine.Letter{Body: `{"currency":"USD"}`}).Set([]quarantine.Assignment{eur})
	must.Succeed(t, err)
	must.Equal(t, got, `{"currency":"EUR"}`)
}

// Of an array, fields are set in what is sent again. Its other events are stored already.
func TestSetFieldsOfSomeEvents(t *testing.T) {
	w := newWorld(t)
	l := w.array(bare)
	text, err := l.Set([]quarantine.Assignment{{Field: path("cents"), Value: "7", Overwrite: true}})
	if err != nil || strings.Count(text, `"cents":7`) != 2 || strings.Contains(text, "300") {
		t.Errorf("%s, %v", text, err)
	}
}

// An edited letter keeps the body that was pulled, whatever is edited after that. A person must
// look again before it replaces anything. Its first body makes it a letter that is not edited.
func TestEditKeepsTheFirstBody(t *testing.T) {
	w := newWorld(t)
	l := w.conflict("sale")
	w.seen(l)
	first := l.Body
	for _, text := range []string{`{"a":1}`, `{"a":2}`} {
		l.Edit(text)
		if l.Body != text || *l.Original != first || l.Seen != nil || l.State() != "edited" {
			t.Errorf("%+v", l)
		}
		w.must(errors.Join(w.dir.SaveBody(l), w.dir.Save(l)))
		if again, err := w.dir.Find(l.ID); err != nil || again.Body != text {
			t.Errorf("%+v, %v", again, err)
		}
	}
	if l.Edit(first); l.Original != nil || l.State() != "open" {
		t.Errorf("%+v", l)
	}
}

// The field that a detail is about goes with some reasons.
func TestReason(t *testing.T) {
	for detail, want := range map[string]string{"id: field order_id is missing": "missing-field:order_id",
		`by: field a["b c"][0] is null`:      `missing-field:a["b c"][0]`,
		"revision: field rev: it is no time": "missing-field:rev",
		`type: "field x is missing"`:         "missing-field", "@at is missing": "missing-field"} {
		must.Equal(t, quarantine.Reason("missing-field", detail), want, detail)
	}
}

// A filter asks for the events that are sent again, and for the key in a note of the stream.
func TestFilter(t *testing.T) {
	w := newWorld(t)
	w.send(`[` + body("gift", 5, "cents", 5) + `,{"type":"toy"}]`)
	letters := w.pull()
	letters[0].ID = "array"
	letters = append(letters,
		&quarantine.Letter{ID: "stream", Note: &record.Note{Verdict: "Poison", Reason: string(record.GivenUp), PK: "GIFT#9", SK: "-"},
			Body: body("sale", 9)},
		&quarantine.Letter{ID: "dead", Dead: true, Body: body("parcel", 3, "rev", 1, "weight", 1)})
	for f, want := range map[quarantine.Filter]string{
		{}: "array stream dead", {Verdict: "Poison", Reason: "unknown-type"}: "array",
		{Type: "toy"}: "array", {Type: "gift"}: "", {Key: "GIFT#5"}: "", // the gift is stored, and not sent again
		{Type: "parcel"}: "dead", {Key: "PARCEL#3 / -"}: "dead", {Key: "PARCEL#3", Verdict: "Poison"}: "",
		{Type: "sale"}: "", {Key: "GIFT#9 / -"}: "stream",
	} {
		f.Pipeline = w.plan
		var got []string
		for _, l := range letters {
			if f.Chooses(l) {
				got = append(got, l.ID)
			}
		}
		must.Equal(t, strings.Join(got, " "), want, f)
	}
}
