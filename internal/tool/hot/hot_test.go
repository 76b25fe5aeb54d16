package hot

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatchlogs/types"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
)

// logs answers with one line on each page.
type logs struct {
	lines map[string][]string // by log group
	asked []*cloudwatchlogs.FilterLogEventsInput
}

func (l *logs) FilterLogEvents(_ context.Context, in *cloudwatchlogs.FilterLogEventsInput,
	_ ...func(*cloudwatchlogs.Options)) (*cloudwatchlogs.FilterLogEventsOutput, error) {
	asked := *in
	l.asked = append(l.asked, &asked)
	lines, there := l.lines[*in.LogGroupName]
	if !there {
		return nil, errors.New("it is not there")
	}
	at := 0
	if in.NextToken != nil {
		fmt.Sscan(*in.NextToken, &at)
	}
	out := &cloudwatchlogs.FilterLogEventsOutput{}
	if at < len(lines) {
		out.Events = []types.FilteredLogEvent{{Message: &lines[at]}}
		out.NextToken = aws.String(fmt.Sprint(at + 1))
	}
	return out, nil
}

var now = must.Time("2026-03-01T12:00:00Z")

func shop(t *testing.T) *pipeline.Pipeline {
	t.Helper()
	p, err := pipeline.Load(examples.Files, "shop/pipeline.yaml", pipeline.CheckOnly())
	must.Succeed(t, err)
	return p
}

func TestRead(t *testing.T) {
	l := &logs{lines: map[string][]string{
		"ingest": {
			`{"hotPartitions":[{"of":"order.placed","index":"GSI2","partitionHash":"aa","count":40},` +
				`{"of":"order.placed","partitionHash":"bb","count":2}]}`,
			`not JSON, and hotPartitions`,
			`{"hotPartitions":"something else"}`,
			`{"hotPartitions":[{"of":"order.placed","index":"GSI2","partitionHash":"aa","count":5}]}`,
		},
		"streams": {`{"hotPartitions":[{"of":"product_totals","partitionHash":"cc","count":41}]}`},
	}}
	list, err := Read(t.Context(), l, []string{"ingest", "streams"}, shop(t), now)
	must.Succeed(t, err)
	want := []Partition{
		{"order.placed", "GSI2", "aa", 45, "shard:16 in place of shard:8 in the pk of GSI2 of order.placed"},
		{"product_totals", "", "cc", 41, "spread: 8 in a new generation of product_totals (raise epoch and since)"},
		{"order.placed", "", "bb", 2, "a partition of order.placed takes 1,000 write units a second, and only another key would spread it"},
	}
	must.Match(t, list, want)
	must.Equal(t, list[0].String(), "GSI2 of order.placed, partition aa: 45 writes refused; "+want[0].Remedy)
	for _, in := range l.asked {
		if *in.FilterPattern != "hotPartitions" || *in.StartTime != now.Add(-time.Hour).UnixMilli() || *in.EndTime != now.UnixMilli() {
			t.Errorf("asked %+v", in)
		}
	}
}

// A log of any length costs ten requests, and the hottest five are shown.
func TestReadIsBounded(t *testing.T) {
	l := &logs{lines: map[string][]string{"ingest": {}}}
	for i := range 30 {
		l.lines["ingest"] = append(l.lines["ingest"], fmt.Sprintf(`{"hotPartitions":[{"of":"x","partitionHash":"%d","count":%d}]}`, i, i+1))
	}
	list, err := Read(t.Context(), l, []string{"ingest"}, nil, now)
	if err != nil || len(l.asked) != mostPages || len(list) != mostShown || list[0].Hash != "9" || list[0].Remedy != "" {
		t.Errorf("%d requests, %+v, %v", len(l.asked), list, err)
	}
	_, err = Read(t.Context(), l, []string{"gone"}, nil, now)
	must.Fail(t, err, "the log group gone")
}

// What a remedy tells the user to write is accepted.
func TestRemedies(t *testing.T) {
	const head = "ingot: 1\nepoch: 1\ntype: \"{type}\"\nevents:\n  a:\n    id: \"{id}\"\n    at: \"{at}\"\n" +
		"    key: {pk: \"A#{id}\", sk: \"-\"}\n"
	index := func(pk string) string { return head + "    indexes: {GSI1: {pk: \"" + pk + "\", sk: \"{@at}\"}}\n" }
	total := func(more string) string {
		return head + "aggregates:\n  t:\n    since: 1\n    by: {x: \"{x}\"}\n    from: {a: {values: {n1: sum n}}}\n" + more
	}
	for name, c := range map[string]struct {
		file, after string // after: the file as the remedy says; empty: it says nothing to write
		hot         Partition
		remedy      string
	}{
		"an index without shards": {index("DAY#{@at | day}"), index("DAY#{@at | day}#{@id | shard:8}"), Partition{Of: "a", Index: "GSI1"},
			"#{@id | shard:8} at the end of the pk of GSI1 of a, and the old pk in was"},
		"an index with shards": {index("DAY#{@at | day}#{@id | shard:6000}"), index("DAY#{@at | day}#{@id | shard:10000}"),
			Partition{Of: "a", Index: "GSI1"}, "shard:10000 in place of shard:6000 in the pk of GSI1 of a"},
		"an index with all shards": {index("DAY#{@at | day}#{@id | shard:10000}"), "", Partition{Of: "a", Index: "GSI1"}, ""},
		"an index that is gone":    {head, "", Partition{Of: "a", Index: "GSI1"}, ""},
		"a type that is gone":      {head, "", Partition{Of: "b"}, ""},
		"a total": {total(""), total("    spread: 2\n"), Partition{Of: "t"},
			"spread: 2 in a new generation of t (raise epoch and since)"},
		"a total spread far": {total("    spread: 600\n"), total("    spread: 1000\n"), Partition{Of: "t"},
			"spread: 1000 in a new generation of t (raise epoch and since)"},
		"a total that cannot be spread": {total("    spread: 1000\n"), "", Partition{Of: "t"},
			"it is spread as far as it can be: group t by one more value"},
		"a floor": {total("    movedBy: put\n    atLeast: {n1: 0}\n"), "", Partition{Of: "t"},
			"a total with a floor is one item: group t by one more value"},
		"a ranked total": {total("    rank: {value: n1}\n"), "", Partition{Of: "t"},
			"a ranked total is one item: group t by one more value"},
	} {
		t.Run(name, func(t *testing.T) {
			must.Equal(t, remedy(written.Pipeline(t, c.file, pipeline.CheckOnly()), c.hot), c.remedy)
			if c.after != "" {
				written.Pipeline(t, c.after, pipeline.CheckOnly())
			}
		})
	}
}
