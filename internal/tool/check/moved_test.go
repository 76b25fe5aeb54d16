package check

import (
	"fmt"

	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

const (
	movedTotal = "\naggregates:\n  credit: {since: 1, by: {merchant: '{merchant_id}'}, movedBy: put, from: {order.placed: {values: {cents: sum -total_cents}}}}\n"
	keyed      = `              - {Effect: Allow, Action: ["dynamodb:GetItem", "dynamodb:PutItem"], Resource: !GetAtt AggregatesTable.Arn, Condition: {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": ["K#"]}}}` + "\n"
	granted    = `{Effect: Allow, Action: ["dynamodb:UpdateItem", "dynamodb:PutItem", "dynamodb:GetItem", "dynamodb:BatchGetItem"], Resource: !GetAtt AggregatesTable.Arn}`
)

// A floor refuses events every day. So the alarm on everything in quarantine gives way to the one
// of docs/watch.md.
func TestAlarmWithFloors(t *testing.T) {
	o := own{pipeline: [][2]string{{"\naggregates:\n",
		strings.Replace(movedTotal, "movedBy: put", "movedBy: put, atLeast: {cents: -1000}", 1)}},
		template: [][2]string{{keyed, "              - " + granted + "\n"}}}
	in := o.input(t)
	r := run(t, in)
	want := "template.yaml:" + place(t, string(in.Template.Text), "  |QuarantineAlarm:") +
		": warning: QuarantineAlarm goes off for every event that a floor (atLeast) refuses, and such events are normal; " +
		"write an alarm on the metrics of the other verdicts, as " +
		"https://github.com/ingot-events/ingot/blob/main/docs/watch.md#quarantine has it"
	if len(r.Findings) != 1 || r.Findings[0].String() != want {
		t.Errorf("got  %v\nwant %s", r.Findings, want)
	}
	page, err := os.ReadFile("../../../docs/watch.md")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(page), "\n**With floors.** ")
	_, after, _ = strings.Cut(after, "\n\n```yaml template\n")
	alarm, _, found := strings.Cut(after, "```")
	_, text, _ := strings.Cut(string(in.Template.Text), "  QuarantineAlarm:\n")
	old, _, there := strings.Cut(text, "  StreamsGrowingAlarm:")
	if !found || !there {
		t.Fatal("the alarm is not found")
	}
	o.template = append(o.template, [2]string{"  QuarantineAlarm:\n" + old, alarm})
	if r := run(t, o.input(t)); len(r.Findings) != 0 {
		t.Errorf("with the alarm of the guide: %v", r.Findings)
	}
}

// An update of a total in a transaction costs twice, and so does that of an index. Transactions on
// one total exclude each other, so check says how many it takes.
func TestAdviceAboutTotals(t *testing.T) {
	const put = "moved by the put: one total takes about 200 transactions a second"
	ranked := func(units int) string {
		return fmt.Sprintf("ranked by cents: %d units of it are the index's, which takes about 500 moves a second in each window", units)
	}
	for _, c := range []struct {
		how, counting, advice string
		units                 int
	}{
		{"movedBy: put", "marks", put + ", and spread multiplies that\n", 2},
		{"movedBy: put, spread: 3", "marks", strings.Replace(put, "200", "600", 1) + ", and spread multiplies that\n", 2},
		{"movedBy: put, atLeast: {cents: -1000}", "marks", put + "\n", 2},
		{"movedBy: put, rank: {value: cents}", "marks", ranked(4) + "; " + put + "\n", 6},
		{"window: 1d, rank: {value: cents}", "marks", ranked(2) + "\n", 3},
		{"window: 1d, rank: {value: cents}", "receipts", ranked(4) + "\n", 6},
	} {
		in := own{pipeline: [][2]string{{"\naggregates:\n", strings.Replace(movedTotal, "movedBy: put", c.how, 1)}},
			parameters: map[string]string{"Counting": c.counting}}.input(t)
		r := run(t, in)
		total := r.Totals[slices.IndexFunc(r.Totals, func(t Total) bool { return t.Name == "credit" })]
		if byPut := strings.Contains(c.how, "put"); (total.MovedBy == "put") != byPut || total.FreshUnits != c.units ||
			byPut && (total.Marks == 0 || total.SpreadForOne != 0) { // orders expire
			t.Errorf("%+v", total)
		}
		var b strings.Builder
		if err := r.WriteText(&b, in); err != nil || !strings.Contains(b.String(), c.advice) {
			t.Errorf("%s: %v\n%s", c.how, err, &b)
		}
	}
}

// If compress makes no item of a sample cheaper, check says so.
func TestCompressThatSavesNothing(t *testing.T) {
	const file = `ingot: 1
epoch: 1
type: order
events:
  order: {id: "{n}", at: "{t}", key: {pk: "O#{n}", sk: "-"}, compress: true}
  line:
    part: {of: order, each: lines, with: [n]}
    id: "{n}#{l}"
    key: {pk: "O#{n}", sk: "L#{l}"}
    compress: true
`
	p, err := textfile.File{Name: "p.yaml", Text: []byte(file)}.Load(checkOnly)
	if err != nil {
		t.Fatal(err)
	}
	small, large := `{"n":1,"t":"2026-03-01T00:00:00Z","lines":[{"l":1}]}`, `{"n":2,"t":"2026-03-01T00:00:00Z","lines":[],"note":"`+
		strings.Repeat("long ", 300)+`"}`
	for lines, want := range map[string][]string{
		small: {"compress saves no write unit for any event of line in e.ndjson, which has 1 of them",
			"compress saves no write unit for any event of order in e.ndjson, which has 1 of them"},
		small + "\n" + large: {"compress saves no write unit for any event of line in e.ndjson, which has 1 of them"},
		"7":                  nil,
	} {
		events, err := (&sample.Sampler{Pipeline: p, Now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}).Read("e.ndjson",
			strings.NewReader(lines))
		if err != nil {
			t.Fatal(err)
		}
		r, err := Run(Input{Pipeline: textfile.File{Name: "p.yaml", Text: []byte(file)}, Events: events})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.Findings {
			if f.Rule == "compress" && f.Severity == rules.Warning && f.Line > 0 {
				got = append(got, f.What)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q", lines, r.Findings)
		}
		if len(want) == 1 && !strings.Contains(events.Text(), "1 of 2 items of order take fewer write units") {
			t.Errorf("%s", events.Text())
		}
	}
}
