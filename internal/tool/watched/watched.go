// Package watched keeps what the last scheduled verification has found in the aggregates table. The
// worker of cmd/worker writes it, and its state machine counts the runs that fail there.
package watched

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Last is what the last scheduled verification that proved something has found, and how many
// have failed since.
type Last struct {
	At        string `json:"at"` // when it was to begin, as RFC 3339; empty: none has proved anything
	Totals    int    `json:"totals"`
	Differing int    `json:"differing"` // totals that are wrong
	Undecided int    `json:"undecided"` // totals that differ and may be right
	Events    int    `json:"events"`
	LeftOut   string `json:"leftOut,omitempty"` // what older items are missing from, and was not judged
	Failed    int    `json:"failed"`
	FailedAt  string `json:"failedAt,omitempty"` // when the last one that failed was to begin
}

// Client is what the package needs of DynamoDB. A *dynamodb.Client is one.
type Client interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
}

// Keep keeps what a verification has found. That is the end of those that failed before it.
func Keep(ctx context.Context, client Client, aggregates string, w Last) error {
	item := rows.KeyImage(lanes.WatchKey)
	item["at"], item["failed"] = rows.Text(w.At), rows.Integer(0)
	for name, n := range map[string]int{"totals": w.Totals, "differing": w.Differing, "undecided": w.Undecided, "events": w.Events} {
		item[name] = rows.Integer(int64(n))
	}
	if w.LeftOut != "" {
		item["leftOut"] = rows.Text(w.LeftOut)
	}
	if _, err := client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &aggregates, Item: item}); err != nil {
		return fmt.Errorf("noting a verification in the aggregates table %s: %w", aggregates, awserr.Quiet(err))
	}
	return nil
}

// Read returns nil if no scheduled verification has ended.
func Read(ctx context.Context, client Client, aggregates string) (*Last, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &aggregates, Key: rows.KeyImage(lanes.WatchKey),
		ConsistentRead: aws.Bool(true)})
	if err != nil || len(out.Item) == 0 {
		return nil, awserr.Quiet(err)
	}
	n := func(name string) int { return int(rows.IntegerOf(out.Item[name])) }
	return &Last{At: rows.TextOf(out.Item["at"]), Totals: n("totals"), Differing: n("differing"), Undecided: n("undecided"),
		Events: n("events"), LeftOut: rows.TextOf(out.Item["leftOut"]), Failed: n("failed"),
		FailedAt: rows.TextOf(out.Item["failedAt"])}, nil
}
