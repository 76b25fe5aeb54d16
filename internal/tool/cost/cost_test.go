package cost

import (
	"io/fs"
	"testing/fstest"

	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

const root = "../../.."

// load reads a pipeline.yaml, or that of the sample shop if the text is empty.
func load(t *testing.T, text string) *pipeline.Pipeline {
	t.Helper()
	files, name := fs.FS(fstest.MapFS{"p.yaml": {Data: []byte(text)}}), "p.yaml"
	if text == "" {
		files, name = os.DirFS(root), sampleshop.Pipeline
	}
	p, err := pipeline.Load(files, name, pipeline.Secret([]byte("secret")))
	must.Succeed(t, err)
	return p
}

// input is a pipeline at 100 events a second.
func input(t *testing.T, text string) Input {
	t.Helper()
	return Input{Name: "pipeline.yaml", Pipeline: load(t, text), Prices: prices(t), Rate: 100, Partitions: 4, Memory: DefaultMemory,
		Architecture: "arm64", Now: must.Time("2026-03-15T00:00:00Z")}
}

func prices(t *testing.T) *Prices {
	t.Helper()
	text := must.Read(t, filepath.Join(root, "prices", "us-east-1.yaml"))
	p, err := ReadPrices("prices/us-east-1.yaml", text)
	must.Succeed(t, err)
	return p
}

// placed returns so many orders of ten customers and two merchants.
func placed(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b,
			`{"type":"order.placed","merchant_id":"m-%d","order_id":"o-%04d","customer_id":"c-%d","product_id":"p-%d","quantity":1,"currency":"EUR","total_cents":500,"placed_at":"2026-03-14T09:%02d:00Z"}`+"\n",
			i%2, i, i%10, i%5, i%60)
	}
	return b.String()
}

// orders returns so many orders, the first of which comes twice, and a line that is not an order.
func orders(n int) string { return placed(n) + placed(1) + "nothing\n" }

// computed returns what a pipeline costs, of lines or, if there are none, of made-up events.
func computed(t *testing.T, in Input, lines string) *Report {
	t.Helper()
	var r *Report
	var err error
	if lines == "" {
		r, err = Suppose(in, 1)
	} else {
		in.File = "orders.ndjson"
		r, err = Compute(in, linesOf(lines))
	}
	must.Succeed(t, err)
	return r
}

// linesOf returns one message for each line.
func linesOf(lines string) iter.Seq2[envelope.Message, error] {
	return Messages("orders.ndjson", strings.NewReader(lines),
		func(line string) ([]envelope.Message, error) { return []envelope.Message{{Body: line}}, nil })
}

func shopAt(t *testing.T, rate float64) Input {
	t.Helper()
	in := input(t, "")
	in.Rate, in.Together = rate, 10
	return in
}

func TestText(t *testing.T) {
	measured := shopAt(t, 2000)
	measured.Duplicates = 0.02
	for name, c := range map[string]struct {
		in    Input
		lines string
	}{"sampled": {measured, orders(3000)}, "short": {shopAt(t, 2000), orders(30)}} {
		var b strings.Builder
		computed(t, c.in, c.lines).WriteText(&b)
		golden.File(t, filepath.Join("testdata", name+".txt"), b.String())
		for line := range strings.Lines(b.String()) {
			if len(strings.TrimSuffix(line, "\n")) > 80 {
				t.Errorf("over 80 columns: %s", line)
			}
		}
	}
}

// The sums are those of the parts, for a million events as well as for a month.
func TestSums(t *testing.T) {
	r := computed(t, shopAt(t, 10), placed(500))
	var month, million float64
	for _, p := range r.Parts {
		if (p.Price == "") != (p.DollarsAMonth == nil) || (p.DollarsAMonth == nil) != (p.DollarsAMillion == nil) {
			t.Errorf("%+v has one of price and dollars alone", p)
		}
		if p.DollarsAMonth != nil {
			month, million = month+*p.DollarsAMonth, million+*p.DollarsAMillion
		}
		if got := p.AMillion * r.Messages / 1e6; math.Abs(got-p.AMonth) > 1e-6*p.AMonth {
			t.Errorf("%s of %s: %v a month, and by the million %v", p.Counted, p.Name, p.AMonth, got)
		}
	}
	if math.Abs(month-r.DollarsAMonth) > 1e-6 || math.Abs(million-r.DollarsAMillion) > 1e-6 || month == 0 {
		t.Errorf("sums %v and %v, of the parts %v and %v", r.DollarsAMonth, r.DollarsAMillion, month, million)
	}
}

// of returns what a report counts of one thing for a million events.
func of(r *Report, part, counted string) float64 {
	for _, p := range r.Parts {
		if p.Name == part && p.Counted == counted {
			return p.AMillion
		}
	}
	return 0
}

// Each property of the load changes the parts that it should change, and in the right direction.
func TestWhatMovesTheCost(t *testing.T) {
	base := computed(t, shopAt(t, 100), placed(500))
	with := func(change func(*Input)) *Report {
		in := shopAt(t, 100)
		change(&in)
		return computed(t, in, placed(500))
	}
	again, more, busy, small := with(func(in *Input) { in.Duplicates = 0.5 }), with(func(in *Input) { in.Partitions = 40 }),
		with(func(in *Input) { in.Rate = 10_000 }), with(func(in *Input) { in.Memory = 128 })
	for _, c := range []struct {
		what         string
		part, count  string
		than         *Report
		higher, same bool
	}{
		{"repetitions cost a write unit each", "repetitions", "write units", again, true, false},
		{"repetitions store nothing", "indexes", "write units", again, false, true},
		{"more partitions make smaller batches", "streams function", "invocations", more, true, false},
		{"a higher rate fills batches", "ingest function", "invocations", busy, false, false},
		{"a higher rate puts more in a request", "puts", "DynamoDB requests", busy, false, false},
		{"a high rate changes no units", "puts", "write units", busy, false, true},
		{"less memory takes longer, and costs less while it waits", "ingest function", "invocations", small, false, true},
	} {
		was, is := of(base, c.part, c.count), of(c.than, c.part, c.count)
		if c.same != (math.Abs(is-was) < 1e-9*was) || !c.same && c.higher != (is > was) {
			t.Errorf("%s: %v before, %v then", c.what, was, is)
		}
	}
	if got := of(again, "repetitions", "write units"); math.Abs(got-0.5e6) > 1 {
		t.Errorf("half a further delivery costs %v write units a million events", got)
	}
	if intel := with(func(in *Input) { in.Architecture = "x86_64" }); base.DollarsAMonth >= intel.DollarsAMonth {
		t.Error("arm64 costs as much as x86_64")
	}
}

// A sample's totals fold: ten customers and two merchants have few totals, however many orders
// there are.
func TestSampleFolds(t *testing.T) {
	in := shopAt(t, 1000)
	folded, supposed := computed(t, in, orders(4000)), computed(t, in, "")
	if got, most := of(folded, "totals", "write units"), of(supposed, "totals", "write units")/20; got == 0 || got > most {
		t.Errorf("%v write units a million events, more than %v", got, most)
	}
	if folded.Partial {
		t.Error("4,000 events are called too few")
	}
	if got := of(folded, "repetitions", "write units"); math.Abs(got-1e6/4_002) > 1 {
		t.Errorf("one of 4,002 lines is a repetition, and %v of a million are", got)
	}
	one, other := computed(t, in, orders(500)), computed(t, in, orders(500))
	if !reflect.DeepEqual(one.Parts, other.Parts) {
		t.Errorf("the same sample costs something else the second time:\n%v\n%v", one.Parts, other.Parts)
	}
}

// What template.yaml creates, whatever the rate, is what the package assumes.
func TestTemplate(t *testing.T) {
	text := must.Read(t, filepath.Join(root, sampleshop.Template))
	c, err := rules.Open(textfile.File{Name: "template.yaml", Text: text}, nil, "")
	must.Succeed(t, err)
	must.Equal(t, c.Billed(), *usual(load(t, "")))
	template := string(text)
	for _, says := range []string{"Default: PassThrough\n", "PointInTimeRecoveryEnabled: true", "BillingMode: PAY_PER_REQUEST",
		fmt.Sprintf("NoncurrentVersionExpiration: {NoncurrentDays: %d}", olderVersions),
		fmt.Sprintf("TumblingWindowInSeconds: !If [Marks, %d,", windowSeconds), "BatchSize: 1000\n", "MaximumBatchingWindowInSeconds: 1 ",
		"    Default: arm64\n", fmt.Sprintf("MemorySize:\n    Type: Number\n    Default: %d\n", DefaultMemory)} {
		must.Say(t, template, says)
	}
	// KMS bills each use of a key that AWS manages, which this would mean (CloudFormation template
	// reference, "AWS::DynamoDB::Table SSESpecification").
	if strings.Contains(template, "{SSEEnabled: true}") {
		t.Error("a table has a key that AWS manages, and KMS bills its use")
	}
}

func TestBadPrices(t *testing.T) {
	const head = "ingotPrices: 1\nregion: us-east-1\n"
	for name, c := range map[string]struct{ text, says string }{
		"empty":         {"", "p.yaml:1:1: the file declares nothing; write ingotPrices: 1, region: and prices:"},
		"another file":  {"epoch: 1\n", "p.yaml:1:1: unknown name epoch; write one of ingotPrices, prices, region\n"},
		"a list":        {"- 1\n", "p.yaml:1:1: the file is a list, not a mapping; write ingotPrices: 1, region: and prices:"},
		"not YAML":      {"prices: [", "p.yaml:1:9: invalid YAML: "},
		"twice":         {head + "region: us-east-1\n", "p.yaml:3:1: region is already declared on line 2"},
		"two documents": {head + "---\n" + head, "p.yaml:4:1: a second YAML document begins here"},
		"no Region":     {"ingotPrices: 1\n", "p.yaml:1:1: region is missing in the file; write region: us-east-1"},
		"a Region list": {"ingotPrices: 1\nregion: [us-east-1]\n", "p.yaml:2:9: region is a list, not text"},
		"a later form":  {"ingotPrices: 2\nregion: x\n", "p.yaml:1:14: ingotPrices: 2 is not a format that this build reads"},
		"no such price": {head + "prices: {s3-storag: {}}\n", "p.yaml:3:10: there is no price s3-storag; write s3-storage"},
		"negative": {head + "prices: {s3-storage: {dollars: -1, per: 1}}\n",
			"p.yaml:3:32: dollars is below 0; write 0 or more, or leave it out if the price is not known"},
		"per nothing": {head + "prices: {s3-storage: {dollars: 1}}\n",
			"p.yaml:3:22: s3-storage does not say for how many the price is; write per: 1 or per: 1000000, for example"},
		"per zero":      {head + "prices: {s3-storage: {dollars: 1, per: 0}}\n", "s3-storage does not say for how many the price is"},
		"a wrong field": {head + "prices: {s3-storage: {dollar: 1, per: 1}}\n", "p.yaml:3:23: unknown name dollar; write dollars"},
		"text":          {head + "prices: {s3-storage: {dollars: cheap, per: 1}}\n", "p.yaml:3:32: dollars is cheap"},
		"infinite":      {head + "prices: {s3-storage: {dollars: .inf, per: 1}}\n", "dollars is .inf, which is not a plain number"},
		"no mapping":    {head + "prices: {s3-storage: 0.02}\n", "p.yaml:3:22: s3-storage is a number, not a mapping"},
		"an alias":      {head + "prices: {s3-storage: {dollars: 1, per: *a}}\n", "anchors, aliases and tags are not supported"},
	} {
		if p, err := ReadPrices("p.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, p, err)
		}
	}
}

// A price that is missing or not known is named, and it is not in any sum.
func TestMissingPrices(t *testing.T) {
	text := "ingotPrices: 1\nregion: us-east-1\nprices: {" + WriteUnits + ": {dollars: 1, per: 1000000}, " + Storage + ": {per: 1}}\n"
	p, err := ReadPrices("p.yaml", []byte(text))
	must.Succeed(t, err)
	in := shopAt(t, 100)
	in.Prices = p
	r := computed(t, in, placed(500))
	if got := strings.Join(r.Unpriced, " "); !strings.Contains(got, Storage) || strings.Contains(got, WriteUnits) ||
		strings.Count(got, SQSRequests) != 1 {
		t.Errorf("missing: %s", got)
	}
	units := 0.0
	for _, part := range r.Parts {
		if part.Price == WriteUnits {
			units += part.AMillion / 1e6
		}
	}
	if units == 0 || math.Abs(r.DollarsAMillion-units) > 1e-9 {
		t.Errorf("%v dollars, and %v write units", r.DollarsAMillion, units)
	}
	var b strings.Builder
	if r.WriteText(&b); !strings.Contains(b.String(), "not known") ||
		!strings.Contains(b.String(), "p.yaml gives no price for sqs-requests, ") {
		t.Errorf("%s", b.String())
	}
}

// The file of prices names all prices, and says where each of them comes from.
func TestPricesSayWhereTheyAreFrom(t *testing.T) {
	p := prices(t)
	for _, name := range Names() {
		one, there := p.said.Prices[name]
		if !there || !strings.HasPrefix(one.Page, "https://aws.amazon.com/") {
			t.Errorf("%s: page %q", name, one.Page)
		}
		if _, known := p.each[name]; known && !strings.Contains(one.Read, ", ") {
			t.Errorf("%s: it does not say where and when it was read: %q", name, one.Read)
		}
	}
}

// Beside what Ingot costs stands what two other ways cost: each write is counted by hand here.
func TestBeside(t *testing.T) {
	in := shopAt(t, 100)
	r := computed(t, in, "")
	shared, whole := 0.0, 0.0
	for _, p := range r.Parts {
		switch {
		case p.DollarsAMillion == nil:
		case slices.Contains([]string{"queue", "puts", "indexes", "storage"}, p.Name):
			shared += *p.DollarsAMillion
		case p.Name == "archive" || p.Name == "watching":
			whole += *p.DollarsAMillion
		}
	}
	const write, gbSecond, invocation = 0.625, 0.0000133334, 0.20 // a million writes, a GB-second, a million invocations
	for i, by := range []struct{ requests, units, changes, more float64 }{
		{1 + 3, 3, 1, 0},                     // a put and three totals
		{1 + 1, 2 * (1 + 3), 1, 0},           // a put, and a transaction of a marker and three totals
		{1 + 3 + 4, 3 + 2 + 2, 1, 0},         // records of idempotency for each event: two around each function
		{1 + 2, 2*(1+3) + 2*(1+2), 2, whole}, // and another transaction at its end: a marker and two totals
	} {
		want := shared + by.more + by.units*write + by.requests*1e6*0.005*DefaultMemory/1024*gbSecond +
			invocation*(1/r.Batches.Ingest+by.changes/r.Batches.Streams)
		if got := r.Beside[i].DollarsAMillion; math.Abs(got-want) > 0.001 {
			t.Errorf("%s: %v dollars a million, want %v", r.Beside[i].Name, got, want)
		}
	}
	in.Traced = true
	if more := computed(t, in, "").DollarsAMillion - r.DollarsAMillion; more < 0.1 {
		t.Errorf("traces cost %v dollars a million", more)
	}
}
