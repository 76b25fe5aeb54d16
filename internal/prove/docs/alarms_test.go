package docs

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/run/function"
	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// These tests evaluate the alarms of all templates on a model of CloudWatch. What it says of Lambda
// and SQS is from their pages:
//
//   - A function that is not called has no metric at all, whatever the reason: its mapping cannot
//     read, is disabled, or is throttled as a whole. ("Types of metrics for Lambda functions")
//   - IteratorAge is written when a batch is done. A shard whose batches all come back has none. A
//     response with batchItemFailures is no error of the function.
//   - InvokedEventCount is of a mapping, and also counts events of calls that are throttled.
//   - A period without a datapoint is missing, and so is the value of an expression there. FILL is
//     not relied on: it has no value either where a metric has no datapoint at all.
const (
	step  = 300 // seconds, the shortest period of an alarm
	steps = 144 // 12 hours: a stream forgets after 24
)

// history holds the metrics of 12 hours, by namespace, name and what they are of.
type history map[string]func(i int) float64

func steady(v float64) func(int) float64 { return func(int) float64 { return v } }

var absent = steady(math.NaN())

// stream adds what a healthy function writes of a mapping to a stream, or with a fault.
func (h history) stream(f, mapping, unproven, fault string) {
	of := func(namespace, name string, v func(int) float64) {
		key := namespace + " " + name + " " + f
		if before := h[key]; before != nil { // of another mapping
			h[key] = func(i int) float64 {
				if x := before(i); math.IsNaN(v(i)) || x > v(i) {
					return x
				}
				return v(i)
			}
			return
		}
		h[key] = v
	}
	called := func(errors, throttles, age, back float64) {
		of("AWS/Lambda", "Invocations", steady(60))
		of("AWS/Lambda", "Errors", steady(errors))
		of("AWS/Lambda", "Throttles", steady(throttles))
		of("AWS/Lambda", "IteratorAge", steady(age))
		of("Ingot", unproven, steady(back))
	}
	if fault != "cannot read" && fault != "disabled" {
		h["AWS/Lambda InvokedEventCount "+mapping] = steady(60)
	}
	switch fault {
	case "": // healthy
		called(0, 0, 900, 0)
	case "dropped":
		called(0, 0, 900, 0)
		h["AWS/Lambda DroppedEventCount "+mapping] = steady(3)
	case "cannot read", "disabled", "concurrency 0", "throttled, all shards":
		if fault == "throttled, all shards" {
			of("AWS/Lambda", "Throttles", steady(9))
		}
	case "throttled, some shards":
		called(0, 9, 900, 0)
	case "denied":
		called(0, 0, math.NaN(), 60)
	case "failing":
		called(60, 0, math.NaN(), math.NaN())
	case "slow":
		called(0, 0, 900, 0)
		of("AWS/Lambda", "IteratorAge", func(i int) float64 { return float64(i) * step * 900 }) // it takes a tenth of what comes
	default:
		panic(fault)
	}
}

// queue writes what the ingest function and its queue write.
func (h history) queue(fault string) {
	age, stored := steady(2), steady(50)
	h["AWS/Lambda Errors IngestFunction"], h["AWS/Lambda Throttles IngestFunction"] = steady(0), steady(0)
	switch fault {
	case "":
	case "throttled, some shards":
		h["AWS/Lambda Throttles IngestFunction"] = steady(9)
	default:
		if fault == "failing" {
			h["AWS/Lambda Errors IngestFunction"] = steady(60)
		}
		age = func(i int) float64 { return float64(i) * step }
		if fault != "slow" {
			stored = absent
		}
	}
	h["AWS/SQS ApproximateAgeOfOldestMessage IngestQueue"] = age
	for _, name := range []string{"Inserted", "Updated"} {
		h["Ingot "+name+" IngestFunction"] = stored
	}
}

// templates are those of all stacks.
var templates = []string{sampleshop.Template, "cmd/migrate/template.yaml", "cmd/publish/template.yaml", "cmd/worker/template.yaml"}

// opened reads a template with these parameters, and the defaults of the others.
func opened(t *testing.T, file string, given map[string]string) *template.Template {
	t.Helper()
	return openedText(t, []byte(read(t, file)), given)
}

func openedText(t *testing.T, text []byte, given map[string]string) *template.Template {
	t.Helper()
	tpl, err := template.Open(text, given)
	must.Succeed(t, err)
	return tpl
}

// wholeOf returns the root of a template.
func wholeOf(t *testing.T, text []byte) *template.Node {
	t.Helper()
	whole, err := template.Read(text)
	must.Succeed(t, err)
	return whole
}

// goesBack are the parameters of a migration with a way back.
var goesBack = map[string]string{"EventsStreamArn": "arn:aws:dynamodb:r:1:table/events/stream/x"}

// mappings are those of the functions of all stacks, or functions that have none. What a person
// starts and waits for needs no alarm.
var mappings = []struct {
	file, function, name, reads, unproven, attended string
	given                                           map[string]string
}{
	{"template.yaml", "IngestFunction", "IngestFunctionMessages", "", "", "", nil},
	{"template.yaml", "StreamsFunction", "StreamsFunctionChanges", "EventsTable", "BatchesUnproven", "", nil},
	{"cmd/migrate/template.yaml", "CaptureFunction", "CaptureFunctionChanges", "OldTable", "RowsUnproven", "", nil},
	{"cmd/migrate/template.yaml", "CaptureFunction", "CaptureFunctionChanges", "OldTable", "RowsUnproven", "", goesBack},
	{"cmd/migrate/template.yaml", "CaptureFunction", "ReturnMapping", "EventsTable", "RowsUnproven", "", goesBack},
	{"cmd/publish/template.yaml", "PublishFunction", "PublishFunctionChanges", "EventsTable", "MessagesRefused", "", nil},
	{"cmd/worker/template.yaml", "WorkerFunction", "WorkerFunction", "", "",
		"ingot verify --large waits for it and says what failed, and the state machine counts runs of the schedule", nil},
}

// Faults of a function are those of all its mappings. The others are of one.
var (
	ofFunctions = []string{"throttled, all shards", "throttled, some shards", "concurrency 0", "failing"}
	ofMappings  = []string{"cannot read", "denied", "disabled", "slow", "dropped"}
)

// Whatever keeps a function from its work for one of its mappings, an alarm of its stack rings and
// goes on ringing, also if only the table that it reads is written: after a turn, only the way back
// writes the old table. While all is well, none does.
func TestNoFaultIsSilent(t *testing.T) {
	var named []string
	for _, m := range mappings {
		named = append(named, m.file+" "+m.name)
		if m.attended != "" {
			continue
		}
		tpl := opened(t, m.file, m.given)
		for _, written := range [][]string{{"EventsTable", "OldTable"}, {cmp.Or(m.reads, "EventsTable")}} {
			for _, fault := range slices.Concat([]string{""}, ofFunctions, ofMappings) {
				h := history{}
				for _, table := range written {
					h["AWS/DynamoDB ConsumedWriteCapacityUnits "+table] = steady(50)
				}
				switch {
				case m.unproven != "":
					h.queue("")
				case fault == "dropped": // a queue has a dead-letter queue
					continue
				default:
					h.queue(fault)
				}
				for _, other := range mappings { // their names are in one template each
					if !slices.Contains(written, other.reads) || other.file == m.file && len(other.given) != len(m.given) {
						continue
					}
					its := ""
					if other.name == m.name || other.function == m.function && slices.Contains(ofFunctions, fault) {
						its = fault
					}
					h.stream(other.function, other.name, other.unproven, its)
				}
				ringing := h.ringing(t, tpl)
				must.Equal(t, fault == "", len(ringing) == 0, m.name, fault, written, ringing)
				t.Logf("%-23s %-24s %s", m.name, fault, strings.Join(ringing, " "))
			}
		}
	}
	slices.Sort(named)
	must.Match(t, declared(t), slices.Compact(named))
}

// declared lists what stands in templates as in [mappings]. Each mapping to a stream has metrics.
func declared(t *testing.T) (list []string) {
	for _, m := range mappings {
		tpl := opened(t, m.file, m.given)
		add := func(name string, mapping *template.Node) {
			list = append(list, m.file+" "+name)
			if tpl.Get(mapping, "StartingPosition") != nil && tpl.Get(mapping, "MetricsConfig", "Metrics") == nil {
				t.Errorf("%s has no metrics", name)
			}
		}
		for _, r := range tpl.Resources() {
			switch events := tpl.Property(r, "Events"); {
			case r.Type == "AWS::Lambda::EventSourceMapping":
				add(r.Name, tpl.Property(r))
			case r.Type == "AWS::Serverless::Function" && events == nil:
				add(r.Name, nil)
			case r.Type == "AWS::Serverless::Function":
				for _, e := range events.Members {
					add(r.Name+e.Name, tpl.Get(e.Value, "Properties"))
				}
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// A stack that nobody uses rings no alarm, and what rang for a queue goes on until it is empty:
// SQS writes no metrics of a queue that was not called for six hours.
func TestAlarmsOfASleepingStack(t *testing.T) {
	for _, m := range mappings {
		must.Match(t, history{}.ringing(t, opened(t, m.file, m.given)), []string(nil), m.file)
	}
	tpl := opened(t, sampleshop.Template, nil)
	for _, name := range []string{"DeadLettersAlarm", "QuarantineAlarm"} {
		must.Equal(t, tpl.Property(tpl.Resource(name), "TreatMissingData").Text, "ignore")
	}
}

// The alarms of the schedule ring until a later run ends them: for a total that differs, and for
// two runs in a row that have proved nothing, which the state machine counts.
func TestAlarmsOfTheSchedule(t *testing.T) {
	tpl := opened(t, "cmd/worker/template.yaml", nil)
	proved := func(differing int) map[string]float64 {
		found := map[string]float64{}
		for _, m := range function.Watched(1000, differing, 5, 9000) {
			found[function.Namespace+" "+m.Name+" WorkerFunction"] = m.Value
		}
		return found
	}
	failed := func(runs int) map[string]float64 { return map[string]float64{toldFailure(t, tpl): float64(runs)} }
	for _, c := range []struct {
		runs []map[string]float64
		want []string
	}{
		{[]map[string]float64{proved(0)}, nil},
		{[]map[string]float64{proved(1)}, []string{"TotalsDifferingAlarm"}},
		{[]map[string]float64{proved(1), failed(1)}, []string{"TotalsDifferingAlarm"}},
		{[]map[string]float64{proved(1), proved(0)}, nil},
		{[]map[string]float64{failed(1)}, nil},
		{[]map[string]float64{failed(1), failed(2)}, []string{"VerifyFailedAlarm"}},
		{[]map[string]float64{failed(1), failed(2), proved(0)}, nil},
	} {
		h := history{}
		for _, key := range slices.Concat(slices.Collect(maps.Keys(proved(0))), slices.Collect(maps.Keys(failed(0)))) {
			h[key] = func(i int) float64 {
				if i%10 == 0 && i/10 < len(c.runs) {
					if v, is := c.runs[i/10][key]; is {
						return v
					}
				}
				return math.NaN()
			}
		}
		must.Match(t, h.ringing(t, tpl), c.want, fmt.Sprint(c.runs))
	}
}

// FILL has no value where a metric has no datapoint, so no alarm may rest on it, not in a document
// either.
func TestNoAlarmRestsOnFill(t *testing.T) {
	for _, file := range slices.Concat(templates, documents(t)) {
		must.Equal(t, regexp.MustCompile(`Expression: .*FILL\(`).MatchString(read(t, file)), false, file)
	}
}

// ringing lists the alarms that act at the end of the history.
func (h history) ringing(t *testing.T, tpl *template.Template) (list []string) {
	t.Helper()
	on := map[string]bool{}
	for _, r := range tpl.Resources() {
		if r.Type == "AWS::CloudWatch::Alarm" {
			on[r.Name] = h.rings(t, tpl, r)
		}
	}
	for _, r := range tpl.Resources() {
		if r.Type != "AWS::CloudWatch::CompositeAlarm" {
			continue
		}
		rule := tpl.Property(r).Member("AlarmRule").Value.Argument.Text
		parsed, err := parser.ParseExpr(strings.NewReplacer(`ALARM("${`, "", `}")`, "", " AND ", "&&", " OR ", "||").Replace(rule))
		must.Succeed(t, err)
		values := map[string][]float64{}
		for name, rings := range on {
			values[name] = []float64{truth(rings)}
		}
		on[r.Name] = compute(parsed, values)[0] != 0
	}
	for _, name := range slices.Sorted(maps.Keys(on)) {
		if off := tpl.Property(tpl.Resource(name), "ActionsEnabled"); on[name] && !off.Is("false") {
			list = append(list, name)
		}
	}
	return list
}

// rings reports whether an alarm is on: as many of its last periods as it asks for are breaching.
func (h history) rings(t *testing.T, tpl *template.Template, r *template.Resource) bool {
	t.Helper()
	text := func(of *template.Node, path ...string) string {
		if n := tpl.Get(of, path...); n != nil {
			return n.Text
		}
		return ""
	}
	number := func(name string) float64 {
		n, err := strconv.ParseFloat(tpl.Property(r, name).Text, 64)
		must.Succeed(t, err)
		return n
	}
	properties := tpl.Property(r)
	values := map[string][]float64{}
	var result []float64
	if metrics := tpl.Property(r, "Metrics"); metrics != nil {
		expression := ""
		for _, m := range tpl.Items(metrics) {
			if of := tpl.Get(m, "MetricStat"); of != nil {
				values[text(m, "Id")] = h.read(t, tpl, tpl.Get(of, "Metric"), text(of, "Period"), text(of, "Stat"))
			} else {
				expression = text(m, "Expression")
			}
		}
		parsed, err := parser.ParseExpr(strings.ReplaceAll(expression, " AND ", " && "))
		must.Succeed(t, err)
		result = compute(parsed, values)
	} else {
		result = h.read(t, tpl, properties, text(properties, "Period"), text(properties, "Statistic"))
	}
	periods := int(number("EvaluationPeriods"))
	need := periods
	if tpl.Property(r, "DatapointsToAlarm") != nil {
		need = int(number("DatapointsToAlarm"))
	}
	for text(properties, "TreatMissingData") == "ignore" && len(result) > periods && math.IsNaN(result[len(result)-1]) {
		result = result[:len(result)-1] // it keeps its state
	}
	below := text(properties, "ComparisonOperator") == "LessThanThreshold"
	breaching := 0
	for _, v := range result[len(result)-periods:] {
		switch missing := math.IsNaN(v); {
		case missing && text(properties, "TreatMissingData") == "breaching",
			!missing && below && v < number("Threshold"), !missing && !below && v > number("Threshold"):
			breaching++
		}
	}
	return breaching >= need
}

// read returns a metric by its periods.
func (h history) read(t *testing.T, tpl *template.Template, metric *template.Node, period, stat string) (list []float64) {
	t.Helper()
	seconds, err := strconv.Atoi(period)
	must.Succeed(t, err)
	v := h[metricOf(t, tpl, metric)]
	for from := 0; from < steps; from += seconds / step {
		sum, most := math.NaN(), math.NaN()
		for i := from; v != nil && i < from+seconds/step; i++ {
			if one := v(i); !math.IsNaN(one) {
				if math.IsNaN(sum) {
					sum, most = 0, one
				}
				sum, most = sum+one, max(most, one)
			}
		}
		if stat == "Sum" {
			most = sum
		}
		list = append(list, most)
	}
	return list
}

// metricOf returns the namespace and the name of a metric, and what it is of.
func metricOf(t *testing.T, tpl *template.Template, metric *template.Node) string {
	t.Helper()
	dimensions := tpl.Items(tpl.Get(metric, "Dimensions"))
	namespace, name := tpl.Get(metric, "Namespace").Text, tpl.Get(metric, "MetricName").Text
	var names []string
	for _, d := range dimensions {
		names = append(names, strings.TrimSuffix(tpl.Get(d, "Name").Text+"="+d.Member("Value").Value.Text, "="))
	}
	if want := dimensionsOf(namespace, name); !regexp.MustCompile("^" + want + "$").MatchString(strings.Join(names, " ")) {
		t.Errorf("%s %s has the dimensions %q, want %s", namespace, name, names, want)
	}
	of := dimensions[len(dimensions)-1].Member("Value").Value
	resource := of.Text
	if of.Argument != nil {
		resource, _, _ = strings.Cut(fmt.Sprint(of.Argument.Text, firstOf(of.Argument)), ".")
	}
	return namespace + " " + name + " " + resource
}

// dimensionsOf is a pattern of the dimensions that a metric has.
func dimensionsOf(namespace, metric string) string {
	if strings.HasSuffix(metric, "EventCount") {
		return "EventSourceMappingUUID"
	}
	return map[string]string{"AWS/Lambda": "FunctionName", "AWS/SQS": "QueueName", function.Namespace: "service=ingot function",
		"AWS/DynamoDB": "TableName( GlobalSecondaryIndexName=.*)?"}[namespace]
}

func firstOf(n *template.Node) string {
	if len(n.Items) > 0 {
		return n.Items[0].Text
	}
	return ""
}

// compute evaluates an expression of metric math, period by period.
func compute(e ast.Expr, values map[string][]float64) []float64 {
	length := 0
	for _, v := range values {
		length = len(v)
	}
	each := func(value func(i int) float64) []float64 {
		list := make([]float64, length)
		for i := range list {
			list[i] = value(i)
		}
		return list
	}
	switch e := e.(type) {
	case *ast.Ident:
		if values[e.Name] == nil {
			panic("what is " + e.Name + "?")
		}
		return values[e.Name]
	case *ast.ParenExpr:
		return compute(e.X, values)
	case *ast.BasicLit:
		n, _ := strconv.ParseFloat(e.Value, 64)
		return each(func(int) float64 { return n })
	case *ast.CallExpr:
		var of [][]float64
		for _, a := range e.Args {
			of = append(of, compute(a, values))
		}
		return each(func(i int) float64 {
			switch name := e.Fun.(*ast.Ident).Name; {
			case name == "DIFF" && i == 0, name == "IF" && math.IsNaN(of[0][i]):
				return math.NaN()
			case name == "DIFF":
				return of[0][i] - of[0][i-1]
			case name == "IF" && of[0][i] != 0:
				return of[1][i]
			case name == "IF":
				return of[2][i]
			default:
				panic(name)
			}
		})
	case *ast.BinaryExpr:
		x, y := compute(e.X, values), compute(e.Y, values)
		return each(func(i int) float64 {
			if math.IsNaN(x[i]) || math.IsNaN(y[i]) {
				return math.NaN()
			}
			switch e.Op {
			case token.ADD:
				return x[i] + y[i]
			case token.GTR:
				return truth(x[i] > y[i])
			case token.LAND:
				return truth(x[i] != 0 && y[i] != 0)
			case token.LOR:
				return truth(x[i] != 0 || y[i] != 0)
			default:
				panic(e.Op)
			}
		})
	}
	panic(fmt.Sprintf("%T", e))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
