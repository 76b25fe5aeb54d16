package demo

import (
	"context"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/archive"
)

// kept returns where the messages are.
func (w *world) kept(ctx context.Context) (k Kept, err error) {
	if k.Items, err = w.items(ctx); err != nil {
		return k, err
	}
	k.Unheard = w.ledger.unheard
	if err = w.empty(ctx); err != nil {
		return k, err
	}
	for _, n := range w.ledger.quarantined {
		k.Quarantine += n
	}
	k.DeadLetters, err = w.Depth(ctx, w.DeadLetters)
	return k, err
}

// items returns how many items the events table holds.
func (w *world) items(ctx context.Context) (int, error) {
	out, err := w.Engine.DynamoDB().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: aws.String(stack.Events)})
	if err != nil {
		return 0, err
	}
	return int(aws.ToInt64(out.Table.ItemCount)), nil
}

// archived returns how many items the archive holds, and in how many files and objects they are.
func (w *world) archived(ctx context.Context) (items, objects int, err error) {
	for _, err := range (archive.Bucket{S3: w.Engine.S3(), Name: stack.Bucket}).Read(ctx, archive.Days{}) {
		if err != nil {
			return 0, 0, err
		}
		items++
	}
	names, err := w.Objects(ctx)
	return items, len(names), err
}

// cost returns what each event of the run has cost so far, without setting up tables and heads.
func (w *world) cost(events int) Cost {
	used, per := w.Engine.Usage().Sub(w.began), func(n float64) float64 { return math.Round(n/float64(events)*1000) / 1000 }
	table := func(name string, requests int) TableCost {
		t := used.Tables[name]
		return TableCost{Requests: per(float64(requests)), WriteUnits: per(t.Write + t.IndexWrite), ReadUnits: per(t.Read + t.IndexRead)}
	}
	return Cost{Counted: "counted by the embedded engine by DynamoDB's rules",
		Events: table(stack.Events, w.ingest.requests), Totals: table(stack.Aggregates, w.streams.requests)}
}
