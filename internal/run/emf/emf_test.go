package emf_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/run/emf"
)

// writes records each Write by itself, to show that a line is written in one Write.
type writes struct {
	all []string
	err error
}

func (w *writes) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	w.all = append(w.all, string(p))
	return len(p), nil
}

// one is a metric that can be written.
var one = counts("A", 1)

func counts(name string, value float64) []emf.Metric {
	return []emf.Metric{{Name: name, Unit: emf.Count, Value: value}}
}

func emitter(w *writes) *emf.Emitter {
	at := time.Date(2026, 2, 3, 4, 5, 6, 789654321, time.FixedZone("", 3600))
	return &emf.Emitter{Out: w, Namespace: "Ingot", Service: "orders", Function: "ingest", Now: func() time.Time { return at }}
}

func TestGoldenLine(t *testing.T) {
	var w writes
	err := emitter(&w).Emit("8476a536-e9f4-11e8-9739-2dfe598c3fcd",
		[]emf.Metric{{"EventsReceived", emf.Count, 10}, {"BatchMs", emf.Milliseconds, 12.5}, {"ColdStart", emf.Count, 0}},
		emf.Property{Name: "queue", Value: `a"<b>`}, emf.Property{Name: "fifo", Value: false},
		emf.Property{Name: "reasons", Value: map[string]int{"z": 1, "a": 2}})
	must.Succeed(t, err)
	want := `{"level":"INFO","timestamp":"2026-02-03T03:05:06.789Z","requestId":"8476a536-e9f4-11e8-9739-2dfe598c3fcd",` +
		`"_aws":{"Timestamp":1770087906789,"CloudWatchMetrics":[{"Namespace":"Ingot","Dimensions":[["service","function"]],` +
		`"Metrics":[{"Name":"EventsReceived","Unit":"Count"},{"Name":"BatchMs","Unit":"Milliseconds"},{"Name":"ColdStart","Unit":"Count"}]}]},` +
		`"service":"orders","function":"ingest","EventsReceived":10,"BatchMs":12.5,"ColdStart":0,` +
		`"queue":"a\"\u003cb\u003e","fifo":false,"reasons":{"a":2,"z":1}}` + "\n"
	if len(w.all) != 1 || w.all[0] != want {
		t.Errorf("wrote %d times:\n%s\nwant once:\n%s", len(w.all), strings.Join(w.all, ""), want)
	}
}

func TestLinesKeepTheSpecification(t *testing.T) {
	hundred := make([]emf.Metric, emf.MaxMetrics)
	for i := range hundred {
		hundred[i] = emf.Metric{Name: fmt.Sprintf("M%d", i), Unit: emf.None, Value: float64(i) * -1.5}
	}
	tests := map[string]struct {
		id      string
		metrics []emf.Metric
		props   []emf.Property
	}{
		"one":           {"r", one, nil},
		"no request id": {"", []emf.Metric{{"A", emf.Bytes, 1e300 / 1e200}}, nil},
		"hundred":       {"r", hundred, nil},
		"every unit": {"r", []emf.Metric{{"a", emf.None, 0}, {"b", emf.Count, 0}, {"c", emf.Bytes, 0}, {"d", emf.Percent, 0},
			{"e", emf.Seconds, 0}, {"f", emf.Milliseconds, 0}, {"g", emf.Microseconds, 0}}, nil},
		"largest value": {"r", []emf.Metric{{"A", emf.Count, 0x1p360}, {"B", emf.Count, -0x1p360}}, nil},
		"odd properties": {"r", one,
			[]emf.Property{{"\x00\xff", "\xff\u2028"}, {"nil", nil}, {"", []int{1}}}},
		"name with quote": {`"`, counts(`say "A"\`, 1), nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var w writes
			must.Succeed(t, emitter(&w).Emit(tt.id, tt.metrics, tt.props...))
			if len(w.all) != 1 {
				t.Fatalf("%d writes, want 1", len(w.all))
			}
			if err := checkDocument(w.all[0], len(tt.metrics)); err != nil {
				t.Errorf("%v in %s", err, w.all[0])
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	refused := func(name string, e *emf.Emitter, metrics []emf.Metric, says string, properties ...emf.Property) {
		t.Run(name, func(t *testing.T) {
			var w writes
			if e.Out != nil {
				e.Out = &w
			}
			must.Fail(t, e.Emit("r", metrics, properties...), says)
			must.Equal(t, len(w.all), 0, w.all)
		})
	}
	for name, tt := range map[string]struct {
		metrics []emf.Metric
		says    string
	}{
		"no metrics":          {nil, "0 metrics"},
		"too many":            {make([]emf.Metric, emf.MaxMetrics+1), "101 metrics"},
		"not a number":        {counts("A", math.NaN()), `metric "A": value NaN`},
		"infinite":            {counts("A", math.Inf(-1)), `metric "A": value -Inf`},
		"too large":           {counts("A", 0x1p361), `metric "A"`},
		"unknown unit":        {[]emf.Metric{{"A", "Events", 1}}, `unit "Events"`},
		"no unit":             {[]emf.Metric{{"A", "", 1}}, `unit ""`},
		"empty name":          {counts("", 1), `metric "": empty`},
		"long name":           {counts(strings.Repeat("n", 256), 1), "256 bytes"},
		"name not ASCII":      {counts("Zähler", 1), "byte 1"},
		"name with colon":     {counts(":A", 1), "colon"},
		"metric twice":        {[]emf.Metric{one[0], one[0]}, `"A" is given twice`},
		"metric is reserved":  {counts("level", 1), `"level"`},
		"metric as dimension": {counts("service", 1), `"service"`},
	} {
		refused(name, emitter(&writes{}), tt.metrics, tt.says)
	}
	for name, tt := range map[string]struct {
		property emf.Property
		says     string
	}{
		"property is a metric": {emf.Property{"A", 1}, `"A"`},
		"property is _aws":     {emf.Property{"_aws", 1}, `"_aws"`},
		"unwritable property":  {emf.Property{"f", func() {}}, `property "f"`},
		"too long":             {emf.Property{"p", strings.Repeat("x", emf.MaxLine)}, "bytes; CloudWatch"},
	} {
		refused(name, emitter(&writes{}), one, tt.says, tt.property)
	}
	for says, change := range map[string]func(*emf.Emitter){
		"namespace":          func(e *emf.Emitter) { e.Namespace = "" },
		"service dimension":  func(e *emf.Emitter) { e.Service = " " },
		"function dimension": func(e *emf.Emitter) { e.Function = "" },
		"no Out":             func(e *emf.Emitter) { e.Out = nil },
	} {
		e := emitter(&writes{})
		change(e)
		refused(says, e, one, says)
	}
}

func TestLongestLine(t *testing.T) {
	var w writes
	e := emitter(&w)
	must.Succeed(t, e.Emit("", one, emf.Property{Name: "p", Value: ""}))
	room := emf.MaxLine - (len(w.all[0]) - 1)
	if err := e.Emit("", one, emf.Property{Name: "p", Value: strings.Repeat("x", room)}); err != nil {
		t.Errorf("a line of exactly MaxLine: %v", err)
	}
	if err := e.Emit("", one, emf.Property{Name: "p", Value: strings.Repeat("x", room+1)}); err == nil {
		t.Error("a line of MaxLine + 1 was written")
	}
}

// The level at which a function logs decides which lines Lambda keeps.
func TestLevelFollowsTheFunction(t *testing.T) {
	for level, want := range map[string]string{"": "INFO", "WARN": "WARN", "error": "ERROR"} {
		var w writes
		e := emitter(&w)
		e.Level = level
		must.Succeed(t, e.Emit("", one))
		if !strings.HasPrefix(w.all[0], `{"level":"`+want+`",`) {
			t.Errorf("level %q: %s", level, w.all[0])
		}
	}
}

func TestRealClock(t *testing.T) {
	var w writes
	e := emitter(&w)
	e.Now = nil
	before := time.Now().UnixMilli()
	must.Succeed(t, e.Emit("", one))
	var doc struct {
		AWS struct{ Timestamp int64 } `json:"_aws"`
	}
	must.Succeed(t, json.Unmarshal([]byte(w.all[0]), &doc))
	if after := time.Now().UnixMilli(); doc.AWS.Timestamp < before || doc.AWS.Timestamp > after {
		t.Errorf("timestamp %d is not within %d and %d", doc.AWS.Timestamp, before, after)
	}
}

func TestWriteErrorIsReturned(t *testing.T) {
	broken := errors.New("broken pipe")
	err := emitter(&writes{err: broken}).Emit("r", one)
	if !errors.Is(err, broken) {
		t.Errorf("error %v, want it to wrap %v", err, broken)
	}
}

func TestEmitFromManyGoroutines(t *testing.T) {
	var w writes // it has no lock on purpose, because the Emitter's lock must be enough
	e := emitter(&w)
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			if err := e.Emit(fmt.Sprint(i), counts("A", float64(i))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	seen := map[string]bool{}
	for _, line := range w.all {
		if err := checkDocument(line, 1); err != nil {
			t.Errorf("%v in %s", err, line)
		}
		seen[line] = true
	}
	must.Equal(t, len(seen), 50)
}

func BenchmarkEmit(b *testing.B) {
	var out bytes.Buffer
	e := &emf.Emitter{Out: &out, Namespace: "Ingot", Service: "orders", Function: "ingest"}
	metrics := make([]emf.Metric, 20)
	for i := range metrics {
		metrics[i] = emf.Metric{Name: fmt.Sprintf("EventsNumber%d", i), Unit: emf.Count, Value: float64(i)}
	}
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		must.Succeed(b, e.Emit("8476a536-e9f4-11e8-9739-2dfe598c3fcd", metrics))
	}
}
