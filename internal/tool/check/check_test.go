package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// samples are the sample's files. The files at the root may be a user's own.
var samples = map[string]string{"pipeline.yaml": sampleshop.Pipeline, "template.yaml": sampleshop.Template}

// read reads one of the sample's files by the name it has at the root.
func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../" + samples[name])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// own is the sample's files as input, with replacements in each. If a text to replace is not there,
// the test fails, because the case no longer tests anything.
type own struct {
	template, pipeline [][2]string
	parameters         map[string]string
}

func (o own) input(t *testing.T) Input {
	t.Helper()
	return Input{Partitions: 4, Parameters: o.parameters,
		Pipeline: textfile.File{Name: "pipeline.yaml", Text: []byte(replace(t, read(t, "pipeline.yaml"), o.pipeline))},
		Template: &textfile.File{Name: "template.yaml", Text: []byte(replace(t, read(t, "template.yaml"), o.template))}}
}

func replace(t *testing.T, text string, pairs [][2]string) string {
	t.Helper()
	for _, p := range pairs {
		if !strings.Contains(text, p[0]) {
			t.Fatalf("the file has no %q any more", p[0])
		}
		text = strings.Replace(text, p[0], p[1], 1)
	}
	return text
}

func run(t *testing.T, in Input) *Report {
	t.Helper()
	r, err := Run(in)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// place returns the "line:column" of the first anchor in text. The column is that of the bar in the
// anchor.
func place(t *testing.T, text, anchor string) string {
	t.Helper()
	before, after, _ := strings.Cut(anchor, "|")
	i := strings.Index(text, before+after)
	if i < 0 {
		t.Fatalf("no %q in the file", before+after)
	}
	i += len(before)
	return fmt.Sprintf("%d:%d", 1+strings.Count(text[:i], "\n"), i-strings.LastIndex(text[:i], "\n"))
}

// The files at the root have no mistakes, even if they are a user's own. So make test reports a
// mistake before a deployment does.
func TestOwnFilesAreClean(t *testing.T) {
	var files [2]textfile.File
	for i, name := range []string{"pipeline.yaml", "template.yaml"} {
		text, err := os.ReadFile("../../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = textfile.File{Name: name, Text: text}
	}
	for _, f := range run(t, Input{Pipeline: files[0], Template: &files[1], Partitions: 4}).Findings {
		if f.Severity != rules.Warning {
			t.Error(f)
		}
	}
}

func TestSampleIsClean(t *testing.T) {
	for _, counting := range []string{"marks", "receipts"} {
		r := run(t, own{parameters: map[string]string{"Counting": counting}}.input(t))
		for _, f := range r.Findings {
			t.Error(f)
		}
		if r.Counting != counting || !r.Clean() || len(r.Totals) != 4 || r.Epoch != 1 {
			t.Errorf("counting %s: %+v", counting, r)
		}
	}
}

// If the pipeline has mistakes, there are no indexes to compare. The template's own mistakes are
// still reported.
func TestMistakesOfBothFilesAtOnce(t *testing.T) {
	in := own{
		pipeline: [][2]string{{"window: 1d", "windw: 1d"}},
		template: [][2]string{{"StartingPosition: TRIM_HORIZON", "StartingPosition: LATEST"}},
	}.input(t)
	r := run(t, in)
	if len(r.Findings) != 2 || r.Clean() || len(r.Totals) != 0 {
		t.Fatalf("%d findings: %v", len(r.Findings), r.Findings)
	}
	want := "pipeline.yaml:" + place(t, string(in.Pipeline.Text), "|windw: 1d") + ": unknown name windw; write window"
	if got := r.Findings[0].String(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if f := r.Findings[1]; f.File != "template.yaml" || f.Rule != "stream-start" {
		t.Errorf("last: %v", f)
	}
}

// A file with mistakes has findings, whatever is wrong: invalid YAML, invalid UTF-8, an empty file,
// or not a template.
func TestWrongFilesAreFindings(t *testing.T) {
	good := own{}.input(t)
	for _, c := range []struct {
		name   string
		change func(*Input)
		want   []string
	}{
		{"pipeline", func(in *Input) {
			in.Pipeline.Text = []byte("a: [1")
		}, []string{"pipeline.yaml:1:4: invalid YAML: the bracket that opens here is not closed; write ] where it ends"}},
		{"nothing", func(in *Input) {
			in.Pipeline.Text = nil
		}, []string{"pipeline.yaml:1:1: the file declares nothing; write ingot: 1, epoch: 1 and events:"}},
		{"a comment", func(in *Input) {
			in.Pipeline.Text = []byte("# later\n")
		}, []string{"pipeline.yaml:1:1: the file declares nothing; write ingot: 1, epoch: 1 and events:"}},
		{"without quotes", func(in *Input) {
			in.Pipeline.Text = []byte("type: {a: @b}")
		}, []string{"pipeline.yaml:1:11: invalid YAML: '@' is a reserved character; write what holds a brace"}},
		{"a name twice", func(in *Input) {
			in.Pipeline.Text = []byte("ingot: 1\nepoch: 1\nepoch: 2\nevents: {a: {retian: 1d, key: {pk: '{@id}', sk: '-'}}}\n")
		},
			[]string{"pipeline.yaml:3:1: epoch is already declared on line 2; write one of the two",
				"pipeline.yaml:4:14: unknown name retian; write retain"}},
		{"UTF-16", func(in *Input) {
			in.Pipeline.Text = []byte("\xff\xfea\x00")
		}, []string{"pipeline.yaml:1:1: invalid YAML: the file is UTF-16; save it as UTF-8"}},
		{"template of bytes", func(in *Input) {
			in.Template = &textfile.File{Name: "t.yaml", Text: []byte("a: \xff")}
		}, []string{"t.yaml:1:1: invalid YAML: the file is not UTF-8; save it as UTF-8"}},
		{"template", func(in *Input) {
			in.Template = &textfile.File{Name: "t.yaml", Text: []byte("a: 1\nb: {")}
		}, []string{"t.yaml:2:4: invalid YAML: the brace that opens here is not closed; write } where it ends"}},
		{"a resource twice", func(in *Input) {
			in.Template = &textfile.File{Name: "t.yaml", Text: []byte("Resources:\n  A: 1\n  A: 2\n")}
		}, []string{"t.yaml:3:3: invalid YAML: A is already declared on line 2; write one of the two"}},
		{"no template", func(in *Input) {
			in.Template = &textfile.File{Name: "t.yaml", Text: []byte("a: 1")}
		}, []string{"t.yaml:1:1: it has no Resources: not a SAM or CloudFormation template; write Resources: with the tables"}},
		{"was", func(in *Input) {
			in.Was = &textfile.File{Name: "old.yaml", Text: []byte("ingot: 1\nepoch: 0\nevnts: {}\n")}
		},
			[]string{"old.yaml:1:1: nothing was compared: this file has mistakes, so it cannot be the one that is deployed now; write " +
				"the name of that file after --was",
				"old.yaml:2:8: epoch is 0; write a whole number from 1 to 1000000000",
				"old.yaml:3:1: unknown name evnts; write events"}},
		{"all of them", func(in *Input) {
			in.Pipeline.Text, in.Template, in.Was = []byte("a: ["), &textfile.File{Name: "t.yaml"}, &textfile.File{Name: "old.yaml"}
		},
			[]string{"pipeline.yaml:1:4: invalid YAML: ", "t.yaml:1:1: the file is empty; write a SAM template",
				"old.yaml:1:1: nothing was compared", "old.yaml:1:1: the file declares nothing"}},
	} {
		in := good
		c.change(&in)
		r := run(t, in)
		if len(r.Findings) < len(c.want) || r.Clean() {
			t.Errorf("%s: %v", c.name, r.Findings)
			continue
		}
		for i, want := range c.want {
			if f := r.Findings[i]; !strings.HasPrefix(f.String(), want) || f.Severity != rules.Mistake {
				t.Errorf("%s: %s, want %s…", c.name, f, want)
			}
		}
		if c.name != "a name twice" && len(r.Findings) != len(c.want) && !strings.HasPrefix(c.name, "template") {
			t.Errorf("%s: more than is wrong: %v", c.name, r.Findings)
		}
	}
}

func TestNoSuchParameter(t *testing.T) {
	in := own{parameters: map[string]string{"X": "1"}}.input(t)
	if _, err := Run(in); err == nil || !strings.HasPrefix(err.Error(), "the template has no parameter X; it has Counting, ") {
		t.Errorf("%v", err)
	}
}

func TestWas(t *testing.T) {
	const drain = "; drain the queue and redrive its dead-letter queue before deploying: a message delivered again afterwards would " +
		"become another item"
	for _, c := range []struct {
		name     string
		old, new [2]string
		anchor   string // in the new file
		want     string // "" means nothing
	}{
		{"the same", [2]string{"window: 1d", "window: 1d"}, [2]string{}, "", ""},
		{"layout", [2]string{"window: 1d", "window:   24h # a day"}, [2]string{}, "", ""},
		{"key", [2]string{`sk: "ORDER"}`, `sk: "ORDR"}`}, [2]string{}, `|sk: "ORDER"}`,
			"events.order.placed: key.sk was ORDR and is ORDER" + drain},
		{"id", [2]string{`id: "{merchant_id}#{order_id}#{payment_id}"`, `id: "{order_id}#{payment_id}"`}, [2]string{},
			`|id: "{merchant_id}#{order_id}#{payment_id}"`,
			"events.order.paid: id was {order_id}#{payment_id} and is {merchant_id}#{order_id}#{payment_id}" + drain},
		{"type", [2]string{`type: "{type}"`, `type: "{kind}"`}, [2]string{}, `|type: "{type}"`, "type was {kind} and is {type}" + drain},
		{"definition", [2]string{"window: 1d", "window: 2d"}, [2]string{}, "|window: 1d",
			"aggregates.merchant_daily: window was 2d and is 1d; raise epoch and give the aggregate that epoch as its since"},
		{"epoch", [2]string{"epoch: 1", "epoch: 2"}, [2]string{}, "|epoch: 1",
			"epoch was 2 and is 1; an epoch is only ever raised: to go back, put the old definitions under a higher epoch"},
		{"new aggregate", [2]string{"  merchant_parcels:", "  other_parcels:"}, [2]string{"  merchant_parcels:", "  merchant_parcels:"},
			"  |merchant_parcels:\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := own{}.input(t)
			in.Was = &textfile.File{Name: "old.yaml", Text: []byte(replace(t, read(t, "pipeline.yaml"), [][2]string{c.old}))}
			in.Template = nil
			r := run(t, in)
			if c.name == "new aggregate" { // one is gone, and one is new without a new epoch
				if len(r.Findings) != 2 || r.Clean() {
					t.Errorf("%v", r.Findings)
				}
				return
			}
			if c.want == "" {
				if len(r.Findings) != 0 {
					t.Errorf("%v", r.Findings)
				}
				return
			}
			want := "pipeline.yaml:" + place(t, string(in.Pipeline.Text), c.anchor) + ": " + c.want
			if len(r.Findings) != 1 || r.Clean() || r.Findings[0].String() != want {
				t.Errorf("got  %v\nwant %s", r.Findings, want)
			}
		})
	}
}

// A new generation is correct, but it lacks what is stored. A warning reminds of the rebuild.
func TestWasOfARebuild(t *testing.T) {
	in := own{pipeline: [][2]string{{"    since: 1                                    # the epoch that", "    since: 2 # the epoch that"},
		{"epoch: 1 ", "epoch: 2 "}}}.input(t)
	in.Was = &textfile.File{Name: "old.yaml", Text: []byte(read(t, "pipeline.yaml"))}
	r := run(t, in)
	want := "pipeline.yaml:" + place(t, string(in.Pipeline.Text), `|since: 2 # the`) + ": warning: aggregates.merchant_daily: since was " +
		"1 and is 2; after deploying it, bring in the events that are stored, if there are any"
	if len(r.Findings) != 1 || r.Findings[0].Severity != rules.Warning || r.Findings[0].Rule != "change-rebuild" ||
		!strings.HasPrefix(r.Findings[0].String(), want) || !r.Clean() {
		t.Errorf("got  %v\nwant %s…", r.Findings, want)
	}
}

// Totals that would expire before stored items need attention. The finding stands at the retain
// that must be written.
func TestWasOfALifetime(t *testing.T) {
	in := own{pipeline: [][2]string{{"retain: 400d", "retain: 97d"}, {"    since: 1                                    # the epoch that",
		"    since: 2 # the epoch that"}, {"epoch: 1 ", "epoch: 2 "}}}.input(t)
	in.Was = &textfile.File{Name: "old.yaml",
		Text: []byte(replace(t, read(t, "pipeline.yaml"),
			[][2]string{{"    retain: 90d                                 # the item", "    retain: 100d # the item"}}))}
	r := run(t, in)
	want := "pipeline.yaml:" + place(t, string(in.Pipeline.Text), `|retain: 97d`) + ": aggregates.merchant_daily: retain was 400d and is " +
		"97d; events of order.placed that are stored keep the expiry they have and live for 100d"
	var found []rules.Finding
	for _, f := range r.Findings {
		if f.Rule == "change-lifetime" {
			found = append(found, f)
		}
	}
	if len(found) != 1 || found[0].Severity != rules.Change || !strings.HasPrefix(found[0].String(), want) ||
		!strings.HasSuffix(found[0].String(), "; write retain: at least 107d") {
		t.Errorf("got  %v\nwant %s…", r.Findings, want)
	}
}

// A change of an index key can be deployed, but it is reported.
func TestWasOfAnIndex(t *testing.T) {
	in := own{}.input(t)
	in.Was = &textfile.File{Name: "old.yaml", Text: []byte(replace(t, read(t, "pipeline.yaml"), [][2]string{
		{`pk: "DAY#{@at | day}`, `pk: "DATE#{@at | day}`}}))}
	r := run(t, in)
	want := "pipeline.yaml:" + place(t, string(in.Pipeline.Text), `|pk: "DAY#`) + ": warning: events.order.placed: indexes.GSI2.pk was " +
		"DATE#{@at|day}#{@id|shard:8} and is DAY#{@at|day}#{@id|shard:8}; items that are stored keep the key they have"
	if len(r.Findings) != 1 || !r.Clean() || !strings.HasPrefix(r.Findings[0].String(), want) {
		t.Errorf("got  %v\nwant %s…", r.Findings, want)
	}
}

// A total that would outgrow its item is a mistake. The spread that the finding says to write keeps
// it small.
func TestATotalThatOutgrowsItsItem(t *testing.T) {
	const daily = "    onExpire: keep                              # when the items expire"
	in := own{pipeline: [][2]string{{daily, "    spread: 1\n" + daily}}}.input(t)
	in.Partitions = 500
	if r := run(t, in); len(r.Findings) > 0 {
		t.Errorf("500 partitions: %v", r.Findings)
	}
	in.Partitions = 600
	r := run(t, in)
	want := "pipeline.yaml:" + place(t, string(in.Pipeline.Text), "    |spread: 1\n") +
		": with 600 partitions a total of merchant_daily that all of them touch takes "
	if len(r.Findings) != 3 || r.Clean() || r.Findings[0].Rule != "total-size" || !strings.HasPrefix(r.Findings[0].String(), want) {
		t.Fatalf("got  %v\nwant %s", r.Findings, want)
	}
	fit := map[bool]int{} // where the bound lies
	for in.Partitions = 575; in.Partitions < 595; in.Partitions++ {
		r := run(t, in)
		i := slices.IndexFunc(r.Totals, func(t Total) bool { return t.Name == "merchant_daily" })
		found := slices.ContainsFunc(r.Findings, func(f rules.Finding) bool {
			return strings.Contains(f.What, "a total of merchant_daily ")
		})
		fits := r.Totals[i].Bytes <= event.MaxItem
		if fit[fits]++; found == fits {
			t.Errorf("%d partitions: %d bytes of %d, and %v", in.Partitions, r.Totals[i].Bytes, event.MaxItem, r.Findings)
		}
	}
	if len(fit) != 2 {
		t.Errorf("the bound does not lie there: %v", fit)
	}
	spread, _, _ := strings.Cut(r.Findings[0].Instead, ",")
	in.Partitions = 600
	in.Pipeline.Text = []byte(strings.Replace(string(in.Pipeline.Text), "    spread: 1\n", "    "+spread+"\n", 1))
	for _, f := range run(t, in).Findings {
		if strings.Contains(f.What, "merchant_daily") {
			t.Errorf("the advice was followed: %v", f)
		}
	}
	in = own{parameters: map[string]string{"Counting": "receipts"}}.input(t)
	if in.Partitions = 600; len(run(t, in).Findings) > 0 {
		t.Error("totals under receipts carry no marks")
	}
}

func TestSizes(t *testing.T) {
	r := run(t, own{}.input(t))
	daily, products := r.Totals[1], r.Totals[3]
	if daily.Name != "merchant_daily" || daily.Marks != 72 || daily.Units != 3 || daily.FreshUnits != 1 || daily.SpreadForOne != 4 {
		t.Errorf("%+v", daily)
	}
	if products.Name != "product_totals" || products.Marks != 18 || products.Units != 1 || products.SpreadForOne != 0 {
		t.Errorf("%+v", products)
	}
	in := own{parameters: map[string]string{"Counting": "receipts"}}.input(t)
	if daily := run(t, in).Totals[1]; daily.Marks != 0 || daily.Units != 2 || daily.SpreadForOne != 0 {
		t.Errorf("receipts: %+v", daily)
	}
	in = own{}.input(t)
	in.Partitions = 400
	if wide := run(t, in).Totals[1]; wide.Marks != 7200 || wide.Units != 275 {
		t.Errorf("400 partitions: %+v", wide)
	}
	// The advice has the effect that it promises.
	spread := *mustDefinition(t)
	spread.Spread = daily.SpreadForOne
	bytes := estimate.Bytes(&spread, nil) + estimate.Marks(&spread, aggregate.Marks, 4)*estimate.MarkBytes
	if estimate.Units(&spread, bytes, aggregate.Marks) != 1 {
		t.Errorf("spread: %d still makes %d bytes", spread.Spread, bytes)
	}
}

func mustDefinition(t *testing.T) *aggregate.Definition {
	t.Helper()
	p, err := textfile.File{Name: "pipeline.yaml", Text: []byte(read(t, "pipeline.yaml"))}.Load(checkOnly)
	if err != nil {
		t.Fatal(err)
	}
	def, _ := p.Definition("merchant_daily")
	return def
}

func TestWritten(t *testing.T) {
	in := own{template: [][2]string{{"DependsOn: StreamsFunction\n    ", ""}}}.input(t)
	r := run(t, in)
	var text, object bytes.Buffer
	if err := r.WriteText(&text, in); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(text.String(), "template.yaml:"+place(t, string(in.Template.Text), "|IngestFunction:")+
		": IngestFunction does not wait for StreamsFunction") ||
		!strings.HasSuffix(text.String(), "\npipeline.yaml and template.yaml: 1 mistake\n") {
		t.Errorf("%s", &text)
	}
	if lines := strings.Split(text.String(), "\n"); len(lines) < 6 ||
		strings.Join(strings.Fields(lines[3]), " ") != "name since spread new full marks bytes advice" ||
		!strings.HasSuffix(lines[5], "  spread: 4 lowers full to 1") || strings.Index(lines[3], "advice") != strings.Index(lines[5],
		"spread: 4") {
		t.Errorf("%s", &text)
	}
	if err := r.WriteJSON(&object); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal(object.Bytes(), &back); err != nil || len(back.Findings) != 1 || back.Findings[0] != r.Findings[0] ||
		back.Counting != "marks" {
		t.Errorf("%v %s", err, &object)
	}
}
