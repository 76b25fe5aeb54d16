package show

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/tables"
)

// Value is one value of a total, made ready to be shown.
type Value struct {
	Text   string   // for people, on one line
	Number string   // decimal text that can be drawn and compared; empty if there is none
	JSON   any      // for programs: decimal text, a [Quantiles], an [Estimate] or a [Moment]
	Cells  []string // for CSV, in the columns of [Columns]
}

// Quantiles says how the numbers of a histogram are spread. Each quantile is decimal text, and at
// most Error, as a part of itself, away from the exact one.
type Quantiles struct {
	Count int64   `json:"count"`
	P50   string  `json:"p50"`
	P90   string  `json:"p90"`
	P99   string  `json:"p99"`
	Error float64 `json:"error"`
}

// Estimate says how many different values there are, with its standard error as a part of it.
type Estimate struct {
	Estimate int64   `json:"estimate"`
	Error    float64 `json:"error"`
}

// Moment is the scalar that the newest or oldest event has, and the time of that event.
type Moment struct {
	At    time.Time       `json:"at"`
	Value json.RawMessage `json:"value"`
}

// Columns returns the names of the columns that a value takes in CSV.
func Columns(v aggregate.Value) []string {
	switch v.Op {
	case aggregate.Histogram:
		return []string{v.Name + " p50", v.Name + " p90", v.Name + " p99"}
	case aggregate.Newest, aggregate.Oldest:
		return []string{v.Name, v.Name + " at"}
	}
	return []string{v.Name}
}

// AmountOf returns the amount of one value of a total, whose amounts are numbers and texts by name.
func AmountOf(name string, numbers map[string]event.Decimal, texts map[string]string) aggregate.Amount {
	number, has := numbers[name]
	text, textual := texts[name]
	return aggregate.Amount{Set: has || textual, Number: number, Text: text}
}

// Sum adds one part of a total, or one of several totals, to values, which has amounts by name.
func Sum(values map[string]aggregate.Amount, def *aggregate.Definition, part tables.StoredTotal) {
	for _, v := range def.Values {
		values[v.Name] = lanes.Merge(v.Op, values[v.Name], AmountOf(v.Name, part.Values, part.Texts))
	}
}

// ValueOf returns an amount as it is shown. It returns false if nothing has supplied the amount, or
// if its text is not one that Ingot writes.
func ValueOf(op aggregate.Op, a aggregate.Amount) (Value, bool) {
	switch {
	case !a.Set:
		return Value{}, false
	case op == aggregate.Histogram:
		return quantiles(a.Text)
	case op == aggregate.Distinct:
		return estimate(a.Text)
	case op.Textual():
		return moment(a.Text)
	}
	text := a.Number.String()
	return Value{Text: Grouped(text), Number: text, JSON: text, Cells: []string{text}}, true
}

// Values returns the values of a stored total by their names, and masks those that are personal. If
// nothing has supplied a value, a count, a sum or a distinct is 0, and others are left out.
func (m Personal) Values(def *aggregate.Definition, amount func(name string) aggregate.Amount) map[string]Value {
	shown := map[string]Value{}
	for _, v := range def.Values {
		a := amount(v.Name)
		a.Set = a.Set || v.Op == aggregate.Count || v.Op == aggregate.Sum || v.Op == aggregate.Distinct
		value, ok := ValueOf(v.Op, a)
		if ok && m.Value(def.Name, v.Name) {
			value = hiddenValue(v)
		}
		if ok {
			shown[v.Name] = value
		}
	}
	return shown
}

// hiddenValue returns what is shown in place of a personal value.
func hiddenValue(v aggregate.Value) Value {
	cells := make([]string, len(Columns(v)))
	for i := range cells {
		cells[i] = Mask
	}
	return Value{Text: Mask, JSON: Mask, Cells: cells}
}

func quantiles(text string) (Value, bool) {
	b := aggregate.Buckets{}
	if err := b.Add(text, 1); err != nil {
		return Value{}, false
	}
	var at [3]string
	for i, q := range []float64{0.5, 0.9, 0.99} {
		n, any := b.Quantile(q)
		if !any { // all that was counted has been taken back
			return Value{}, false
		}
		at[i] = n.String()
	}
	return Value{Text: fmt.Sprintf("p50 %s p90 %s p99 %s", Grouped(at[0]), Grouped(at[1]), Grouped(at[2])), Number: at[0], Cells: at[:],
		JSON: Quantiles{Count: b.Count(), P50: at[0], P90: at[1], P99: at[2], Error: aggregate.BucketError}}, true
}

func estimate(text string) (Value, bool) {
	var s aggregate.Sketch
	if err := s.Merge(text); err != nil {
		return Value{}, false
	}
	n := s.Estimate()
	digits := strconv.FormatInt(n, 10)
	return Value{Text: fmt.Sprintf("about %s ±%.1f %%", Grouped(digits), 100*aggregate.DistinctError), Number: digits,
		Cells: []string{digits},
		JSON:  Estimate{Estimate: n, Error: aggregate.DistinctError}}, true
}

func moment(text string) (Value, bool) {
	d, err := aggregate.ParseDated(text)
	if err != nil {
		return Value{}, false
	}
	v := Value{Text: Text(d.JSON), JSON: Moment{At: d.At, Value: json.RawMessage(d.JSON)},
		Cells: []string{Cell(d.JSON), d.At.Format(time.RFC3339Nano)}}
	if n, err := event.ParseDecimal(d.JSON); err == nil {
		v.Number, v.Text = n.String(), Grouped(n.String())
	}
	var plain string
	if json.Unmarshal([]byte(d.JSON), &plain) == nil {
		v.Text, v.Cells[0] = Text(plain), Cell(plain)
	}
	return v, true
}

// Window returns the name of a total's window, as short as its length allows: 2026, 2026-03,
// 2026-03-01 or 2026-03-01T14:00:00Z. Without windows it is "all time".
func Window(d *aggregate.Definition, start time.Time) string {
	switch start = start.UTC(); {
	case d.Window == 0 || start.IsZero():
		return "all time"
	case d.Months >= 12:
		return start.Format("2006")
	case d.Months > 0:
		return start.Format("2006-01")
	case d.Window%(24*time.Hour) == 0:
		return start.Format(time.DateOnly)
	}
	return start.Format(time.RFC3339)
}
