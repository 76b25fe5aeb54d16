package check

import (
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

// The ingest function of a pipeline whose puts move totals must be allowed more. A statement for
// the one key of the secret's check value is not enough. What the finding says to write is
// accepted.
func TestRightsOfTotalsThatMoveWithThePut(t *testing.T) {
	o := own{pipeline: [][2]string{{"\naggregates:\n", movedTotal}}}
	r := run(t, o.input(t))
	want := "IngestRole does not allow dynamodb:UpdateItem, dynamodb:PutItem, dynamodb:GetItem, dynamodb:BatchGetItem on AggregatesTable: " +
		"events could not be stored together with what they add to totals; write " + granted + " among the statements of IngestRole"
	if len(r.Findings) != 1 || !strings.HasSuffix(r.Findings[0].String(), want) {
		t.Errorf("got  %v\nwant %s", r.Findings, want)
	}
	o.template = [][2]string{{keyed, "              - " + granted + "\n"}}
	if r := run(t, o.input(t)); len(r.Findings) != 0 {
		t.Errorf("with what it says: %v", r.Findings)
	}
}

// The ingest function of a pipeline with types that are migrated must be allowed to look whether
// they have turned. A statement for another key is not enough.
func TestRightsOfMigratedTypes(t *testing.T) {
	migrated := [2]string{"  order.placed:\n", "  order.placed:\n    migrated: shop\n"}
	of := func(o own) Input {
		in := o.input(t)
		in.Migration = &textfile.File{Name: "migration.yaml",
			Text: []byte("migration: 1\nname: shop\nfrom: {table: Shop}\nrows: [{type: order.placed}]")}
		return in
	}
	if r := run(t, of(own{pipeline: [][2]string{migrated}})); len(r.Findings) != 0 {
		t.Errorf("with the template's own role: %v", r.Findings)
	}
	const line = `              - {Effect: Allow, Action: "dynamodb:GetItem", Resource: !GetAtt AggregatesTable.Arn, Condition: ` +
		`{"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["M#*"]}}}` + "\n"
	const advice = `{Effect: Allow, Action: ["dynamodb:GetItem"], Resource: !GetAtt AggregatesTable.Arn}`
	r := run(t, of(own{pipeline: [][2]string{migrated}, template: [][2]string{{line, ""}}}))
	want := "IngestRole does not allow dynamodb:GetItem on AggregatesTable: the function could not tell which side is the source of a type " +
		"that is migrated, and would store no event of it; write " + advice + " among the statements of IngestRole"
	if len(r.Findings) != 1 || !strings.HasSuffix(r.Findings[0].String(), want) {
		t.Errorf("got  %v\nwant %s", r.Findings, want)
	}
	o := own{pipeline: [][2]string{migrated}, template: [][2]string{{line, "              - " + advice + "\n"}}}
	if r := run(t, of(o)); len(r.Findings) != 0 {
		t.Errorf("with what it says: %v", r.Findings)
	}
}

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

// An update of such a total costs what it costs in a transaction. Transactions on one total exclude
// each other, so check says how many it takes.
func TestCostOfTotalsThatMoveWithThePut(t *testing.T) {
	for _, c := range []struct {
		more, advice string
		units        int
	}{
		{"", "moved by the put: one total takes about 200 transactions a second, and spread multiplies that\n", 2},
		{", spread: 3", "moved by the put: one total takes about 600 transactions a second, and spread multiplies that\n", 2},
		{", atLeast: {cents: -1000}", "moved by the put: one total takes about 200 transactions a second\n", 2},
		{", rank: {value: cents}",
			"ranked by cents: 4 units of it are the index's, which takes about 500 moves a second in each window; moved by the put: one total takes about 200 transactions a second\n", 6},
	} {
		o := own{pipeline: [][2]string{{"\naggregates:\n", strings.Replace(movedTotal, "movedBy: put", "movedBy: put"+c.more, 1)}}}
		in := o.input(t)
		r := run(t, in)
		total := r.Totals[slices.IndexFunc(r.Totals, func(t Total) bool { return t.Name == "credit" })]
		if total.MovedBy != "put" || total.FreshUnits != c.units || total.Marks == 0 || total.SpreadForOne != 0 { // orders expire
			t.Errorf("%+v", total)
		}
		var b strings.Builder
		if err := r.WriteText(&b, in); err != nil || !strings.Contains(b.String(), c.advice) {
			t.Errorf("%v\n%s", err, &b)
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
