// Package emf writes metrics in the CloudWatch embedded metric format. [Emitter.Emit] writes one
// line of JSON to standard output, and CloudWatch Logs extracts the metrics from it, without an API
// call.
//
// The package does not know any metric. The package that counts a metric decides on its name, its
// unit and its meaning. AWS describes the format in "Specification: Embedded metric format". If a
// line breaks it, nobody sees an error: CloudWatch silently extracts nothing. So Emit checks
// everything that the specification demands before it writes.
package emf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
)

// MaxMetrics is how many metrics one line may have at most. It is a limit of the format.
const MaxMetrics = 100

// MaxLine is the length of the longest line that Emit writes, in bytes, without the line feed. The
// limit of CloudWatch for a log event was 256 KB for years, and is 1 MB today. A line within the
// older limit is accepted everywhere.
const MaxLine = 256 << 10

// Unit is a CloudWatch unit. An unknown unit would make CloudWatch drop the whole line.
type Unit string

// The units that Emit accepts.
const (
	None         Unit = "None"
	Count        Unit = "Count"
	Bytes        Unit = "Bytes"
	Percent      Unit = "Percent"
	Seconds      Unit = "Seconds"
	Milliseconds Unit = "Milliseconds"
	Microseconds Unit = "Microseconds"
)

// Metric is one number. Name is 1 to 255 printable ASCII characters, and does not begin with a
// colon. Value is finite, and between -2^360 and 2^360, as CloudWatch demands.
type Metric struct {
	Name  string
	Unit  Unit
	Value float64
}

// Property is a member of the line that is searchable in the log, but is not a metric. Ids and keys
// belong here, because every new value of a dimension would be a new, billed metric.
type Property struct {
	Name  string
	Value any // anything that encoding/json can write
}

// Emitter writes lines to Out. Set its fields before the first Emit, and then leave them alone.
// Several goroutines may call Emit.
type Emitter struct {
	Out       io.Writer        // required; standard output in Lambda
	Namespace string           // required: the CloudWatch namespace, 1 to 255 characters
	Service   string           // required: value of the dimension "service"
	Function  string           // required: value of the dimension "function"
	Now       func() time.Time // nil: time.Now

	// Level is the log level of the line. Empty means INFO. With JSON logging, Lambda drops every
	// line whose level is below the function's application log level. A line without a level counts
	// as INFO. So if that level is WARN, an INFO line is lost, together with its metrics. To keep
	// the metrics at every setting, put the value of AWS_LAMBDA_LOG_LEVEL here.
	Level string

	mu sync.Mutex // guards Out, so that two lines are never mixed
}

// Emit writes one line in one Write: the request id (left out if empty), all metrics and all
// properties, in the order given. The same arguments at the same time give the same bytes. If Emit
// returns an error, it has written nothing, unless the error comes from Out.
func (e *Emitter) Emit(requestID string, metrics []Metric, properties ...Property) error {
	line, err := e.line(requestID, metrics, properties)
	if err != nil {
		return fmt.Errorf("emf: %w", err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := e.Out.Write(line); err != nil {
		return fmt.Errorf("emf: write metrics: %w", err)
	}
	return nil
}

// line returns the whole line with its line feed.
func (e *Emitter) line(requestID string, metrics []Metric, properties []Property) ([]byte, error) {
	if e.Out == nil {
		return nil, errors.New("the Emitter has no Out; set it to os.Stdout")
	}
	if err := e.check(metrics); err != nil {
		return nil, err
	}
	o := object{names: make(map[string]bool)}
	now := e.now()
	o.text("level", e.level())
	o.text("timestamp", now.Format("2006-01-02T15:04:05.000Z"))
	if requestID != "" {
		o.text("requestId", requestID)
	}
	o.raw("_aws", e.metadata(now, metrics))
	o.text("service", e.Service)
	o.text("function", e.Function)
	for _, m := range metrics {
		o.raw(m.Name, number(m.Value))
	}
	for _, p := range properties {
		o.value(p.Name, p.Value)
	}
	return o.line()
}

// metadata returns the _aws member. It says which root members are metrics, and which are
// dimensions.
func (e *Emitter) metadata(now time.Time, metrics []Metric) []byte {
	var b []byte
	b = append(b, `{"Timestamp":`...)
	b = strconv.AppendInt(b, now.UnixMilli(), 10)
	b = append(b, `,"CloudWatchMetrics":[{"Namespace":`...)
	b = append(b, text(e.Namespace)...)
	b = append(b, `,"Dimensions":[["service","function"]],"Metrics":[`...)
	for i, m := range metrics {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"Name":`...)
		b = append(b, text(m.Name)...)
		b = append(b, `,"Unit":`...)
		b = append(b, text(string(m.Unit))...)
		b = append(b, '}')
	}
	return append(b, `]}]}`...)
}

func (e *Emitter) now() time.Time {
	if e.Now == nil {
		return time.Now().UTC()
	}
	return e.Now().UTC()
}

func (e *Emitter) level() string {
	if e.Level == "" {
		return "INFO"
	}
	return strings.ToUpper(e.Level)
}

// check returns an error if CloudWatch would refuse the line. The error names the wrong part.
func (e *Emitter) check(metrics []Metric) error {
	for _, f := range []struct{ what, value string }{
		{"namespace", e.Namespace}, {"service dimension", e.Service}, {"function dimension", e.Function},
	} {
		if err := checkName(f.value); err != nil {
			return fmt.Errorf("%s %q: %w", f.what, f.value, err)
		}
	}
	if len(metrics) == 0 || len(metrics) > MaxMetrics {
		return fmt.Errorf("%d metrics in one line; give 1 to %d", len(metrics), MaxMetrics)
	}
	for _, m := range metrics {
		if err := m.check(); err != nil {
			return fmt.Errorf("metric %q: %w", m.Name, err)
		}
	}
	return nil
}

func (m Metric) check() error {
	if err := checkName(m.Name); err != nil {
		return err
	}
	switch m.Unit {
	case None, Count, Bytes, Percent, Seconds, Milliseconds, Microseconds:
	default:
		return fmt.Errorf("unit %q is not one of this package's units; use None if none fits", m.Unit)
	}
	if !(math.Abs(m.Value) <= 0x1p360) { // also catches NaN
		return fmt.Errorf("value %v cannot be stored by CloudWatch; it must be finite and at most 2^360", m.Value)
	}
	return nil
}

// checkName checks a metric name, a dimension value or the namespace, all by the same rules.
func checkName(s string) error {
	switch {
	case len(s) > 255:
		return fmt.Errorf("%d bytes long; at most 255 are allowed", len(s))
	case strings.TrimSpace(s) == "":
		return errors.New("empty; give it a text")
	case s[0] == ':':
		return errors.New("begins with a colon, which CloudWatch refuses")
	}
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return fmt.Errorf("byte %d is not a printable ASCII character", i)
		}
	}
	return nil
}

// object collects the members of one JSON object in order, and remembers the first error. A
// repeated name is an error, because it is not defined which of the two values CloudWatch takes.
type object struct {
	buf   []byte
	names map[string]bool
	err   error
}

func (o *object) raw(name string, value []byte) {
	if o.names[name] && o.err == nil {
		o.err = fmt.Errorf("%q is given twice, or is one of the line's own members; rename it", name)
	}
	o.names[name] = true
	o.buf = append(o.buf, ',')
	o.buf = append(o.buf, text(name)...)
	o.buf = append(o.buf, ':')
	o.buf = append(o.buf, value...)
}

func (o *object) text(name, value string) { o.raw(name, text(value)) }

func (o *object) value(name string, v any) {
	b, err := json.Marshal(v)
	if err != nil && o.err == nil {
		o.err = fmt.Errorf("property %q: %w", name, err)
	}
	o.raw(name, b)
}

func (o *object) line() ([]byte, error) {
	if o.err != nil {
		return nil, o.err
	}
	if n := len(o.buf) + 1; n > MaxLine {
		return nil, fmt.Errorf("line of %d bytes; CloudWatch takes at most %d, so give fewer or shorter properties", n, MaxLine)
	}
	o.buf[0] = '{' // in place of the first comma
	return append(o.buf, '}', '\n'), nil
}

// text returns s as a JSON string. json.Marshal of a string cannot fail.
func text(s string) []byte {
	b, _ := json.Marshal(s)
	return b
}

// number returns v as a JSON number. json.Marshal of a finite float cannot fail.
func number(v float64) []byte {
	b, _ := json.Marshal(v)
	return b
}
