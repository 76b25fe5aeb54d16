package check

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// samples are the sample's files. The files at the root may be a user's own.
var samples = map[string]string{"pipeline.yaml": sampleshop.Pipeline, "template.yaml": sampleshop.Template}

// read reads one of the sample's files by the name it has at the root.
func read(t *testing.T, name string) string {
	t.Helper()
	return string(must.Read(t, "../../../"+samples[name]))
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
	must.Succeed(t, err)
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
	files := map[string]textfile.File{}
	for _, name := range []string{"pipeline.yaml", "template.yaml", "samconfig.toml"} {
		files[name] = textfile.File{Name: name, Text: must.Read(t, "../../../"+name)}
	}
	tpl, config := files["template.yaml"], files["samconfig.toml"]
	for _, f := range run(t, Input{Pipeline: files["pipeline.yaml"], Template: &tpl, Config: &config, Partitions: 4}).Findings {
		if f.Severity != rules.Warning {
			t.Error(f)
		}
	}
}

// Bytes that are not UTF-8 are a finding, as each other mistake is.
func TestFilesThatAreNotUTF8(t *testing.T) {
	in := own{}.input(t)
	in.Pipeline.Text, in.Template.Text = []byte("\xff\xfea\x00"), []byte("a: \xff")
	r := run(t, in)
	must.Equal(t, fmt.Sprint(r.Findings), "[pipeline.yaml:1:1: invalid YAML: the file is UTF-16; save it as UTF-8 "+
		"template.yaml:1:1: invalid YAML: the file is not UTF-8; save it as UTF-8]")
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
	spread, _, is := strings.Cut(r.Findings[0].Instead, " into it")
	if !is {
		t.Error(r.Findings[0])
	}
	in.Partitions = 600
	in.Pipeline.Text = []byte(strings.Replace(string(in.Pipeline.Text), "    spread: 1\n", "    "+spread+"\n", 1))
	for _, f := range run(t, in).Findings {
		if strings.Contains(f.What, "merchant_daily") {
			t.Errorf("the advice was followed: %v", f)
		}
	}
	ranked := own{pipeline: [][2]string{{daily, "    rank: {value: orders}\n" + daily}}}.input(t)
	ranked.Partitions = 600
	i := slices.IndexFunc(run(t, ranked).Findings, func(f rules.Finding) bool {
		return strings.HasPrefix(f.Instead, "merchant_daily without rank, and with spread: ")
	})
	if i < 0 { // a ranked total has one item
		t.Errorf("of a ranked total: %v", run(t, ranked).Findings)
	}
	in = own{parameters: map[string]string{"Counting": "receipts"}}.input(t)
	if in.Partitions = 600; len(run(t, in).Findings) > 0 {
		t.Error("totals under receipts carry no marks")
	}
}

// Under receipts one change and its totals must fit into a transaction. Under marks each total is
// written by itself.
func TestTooManyTotalsForReceipts(t *testing.T) {
	var more strings.Builder
	for i := range 60 {
		fmt.Fprintf(&more,
			"  more%d: {since: 1, by: {depot: '{depot}'}, from: {order.shipped: {values: {parcels: count}}}, onExpire: subtract}\n", i)
	}
	many := [][2]string{{"\naggregates:\n", "\naggregates:\n" + more.String()}}
	if r := run(t, own{pipeline: many}.input(t)); len(r.Findings) != 0 {
		t.Errorf("marks: %v", r.Findings)
	}
	in := own{pipeline: many, parameters: map[string]string{"Counting": "receipts"}}.input(t)
	r := run(t, in)
	want := "template.yaml:" + place(t, string(in.Template.Text), "INGOT_COUNTING: |!Ref") +
		": one change of event type order.shipped can touch "
	if len(r.Findings) != 1 || r.Clean() || !strings.HasPrefix(r.Findings[0].String(), want) {
		t.Errorf("got  %v\nwant %s", r.Findings, want)
	}
}
