package show

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// Each kind of value has a text for people, JSON for programs, and as many cells as columns.
func TestValues(t *testing.T) {
	dated := func(json string) aggregate.Amount {
		at := must.Time("2026-03-01T10:00:02Z")
		return aggregate.Amount{Set: true, Text: aggregate.DatedText(aggregate.Dated{At: at, JSON: json}, event.Key{PK: "p", SK: "s"})}
	}
	number := func(text string) aggregate.Amount {
		d, err := event.ParseDecimal(text)
		must.Succeed(t, err)
		return aggregate.Amount{Set: true, Number: d}
	}
	for _, tt := range []struct {
		op           aggregate.Op
		amount       aggregate.Amount
		text, number string
		json         string
		cells        []string
	}{
		{aggregate.Sum, number("-1234567.50"), "-1,234,567.5", "-1234567.5", `"-1234567.5"`, []string{"-1234567.5"}},
		{aggregate.Histogram, aggregate.Amount{Set: true, Text: "0:1,424:8"}, "p50 1.024 p90 1.024 p99 1.024", "1.024",
			`{"count":9,"p50":"1.024","p90":"1.024","p99":"1.024","error":0.025}`, []string{"1.024", "1.024", "1.024"}},
		{aggregate.Distinct, aggregate.Amount{Set: true, Text: aggregate.DistinctText([]byte(`"a"`))}, "about 1 ±1.6 %", "1",
			`{"estimate":1,"error":0.0163}`, []string{"1"}},
		{aggregate.Newest, dated(`"paid"`), "paid", "", `{"at":"2026-03-01T10:00:02Z","value":"paid"}`,
			[]string{"paid", "2026-03-01T10:00:02Z"}},
		{aggregate.Oldest, dated(`1250`), "1,250", "1250", `{"at":"2026-03-01T10:00:02Z","value":1250}`,
			[]string{"1250", "2026-03-01T10:00:02Z"}},
		{aggregate.Newest, dated(`"=1+\u0007"`), `=1+\u0007`, "", `{"at":"2026-03-01T10:00:02Z","value":"=1+\u0007"}`,
			[]string{`'=1+\u0007`, "2026-03-01T10:00:02Z"}},
		{aggregate.Newest, dated(`true`), "true", "", `{"at":"2026-03-01T10:00:02Z","value":true}`,
			[]string{"true", "2026-03-01T10:00:02Z"}},
	} {
		v, ok := ValueOf(tt.op, tt.amount)
		if !ok {
			t.Errorf("%s of %q cannot be shown", tt.op, tt.amount.Text)
			continue
		}
		text, err := json.Marshal(v.JSON)
		must.Succeed(t, err)
		if v.Text != tt.text || v.Number != tt.number || string(text) != tt.json || !slices.Equal(v.Cells, tt.cells) {
			t.Errorf("%s: %q, %q, %s, %q", tt.op, v.Text, v.Number, text, v.Cells)
		}
		value := aggregate.Value{Name: "x", Op: tt.op}
		if n := len(Columns(value)); n != len(v.Cells) || n != len(hiddenValue(value).Cells) {
			t.Errorf("%s has %d columns and %d cells", tt.op, n, len(v.Cells))
		}
	}
	for _, tt := range []struct {
		op     aggregate.Op
		amount aggregate.Amount
	}{
		{aggregate.Sum, aggregate.Amount{}}, {aggregate.Newest, aggregate.Amount{Set: true, Text: "?"}},
		{aggregate.Histogram, aggregate.Amount{Set: true, Text: "x"}}, {aggregate.Distinct, aggregate.Amount{Set: true, Text: "x"}},
		{aggregate.Histogram, aggregate.Amount{Set: true}}, // all that was counted is taken back
	} {
		if v, ok := ValueOf(tt.op, tt.amount); ok {
			t.Errorf("%s of %+v is shown as %q", tt.op, tt.amount, v.Text)
		}
	}
}

func TestWindows(t *testing.T) {
	at := must.Time("2026-03-01T00:00:00Z")
	for want, d := range map[string]*aggregate.Definition{
		"all time":             {},
		"2026-03-01T00:00:00Z": {Window: time.Hour},
		"2026-03-01":           {Window: 24 * time.Hour},
		"2026-03":              {Window: 31 * 24 * time.Hour, Months: 1},
		"2026":                 {Window: 366 * 24 * time.Hour, Months: 12},
	} {
		must.Equal(t, Window(d, at), want)
	}
}

// What counts or adds up is 0 if nothing has supplied it. Other values are left out.
func TestNothingSupplied(t *testing.T) {
	def := &aggregate.Definition{Name: "x"}
	for op := aggregate.Count; op <= aggregate.Distinct; op++ {
		def.Values = append(def.Values, aggregate.Value{Name: op.String(), Op: op})
	}
	shown := (Personal{}).Values(def, func(string) aggregate.Amount { return aggregate.Amount{} })
	for name, want := range map[string]string{"count": "0", "sum": "0", "distinct": "about 0 ±1.6 %"} {
		must.Equal(t, shown[name].Text, want, name)
	}
	must.Equal(t, len(shown), 3)
}

func TestPersonalValues(t *testing.T) {
	m := hidden(t)
	for name, want := range map[string]bool{"last": true, "first": true, "different": false, "seen": false, "city": false,
		"nothing": false} {
		must.Equal(t, m.Value("kept", name), want, name)
		if (Personal{}).Value("kept", name) {
			t.Errorf("%s is masked although nothing is personal", name)
		}
	}
}
