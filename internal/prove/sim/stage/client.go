package stage

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/tables"
)

// Client is DynamoDB as the code under test reaches it: through the scheduler and its faults. A
// world that needs more embeds it.
type Client struct {
	World *World
	DB    DynamoDB
	Late  func() time.Duration // see [Request]
	Page  int                  // items of a Scan's page at most; 0: as many as there are
	// Answered is told of each request and its error. It may be nil.
	Answered func(in any, err error)
}

// DynamoDB is what a [Client] asks.
type DynamoDB interface {
	tables.Client
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
}

func ask[I, O any](c *Client, ctx context.Context, api string, write bool, in I,
	call func(context.Context, I, ...func(*dynamodb.Options)) (O, error)) (O, error) {
	out, err := Request(c.World, ctx, api, write, c.Late, func() (O, error) { return call(c.World.Sent(), in) })
	if c.Answered != nil {
		c.Answered(in, err)
	}
	return out, err
}

func (c *Client) PutItem(ctx context.Context, in *dynamodb.PutItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	return ask(c, ctx, "PutItem", true, in, c.DB.PutItem)
}

func (c *Client) DeleteItem(ctx context.Context, in *dynamodb.DeleteItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error) {
	return ask(c, ctx, "DeleteItem", true, in, c.DB.DeleteItem)
}

func (c *Client) GetItem(ctx context.Context, in *dynamodb.GetItemInput, _ ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	return ask(c, ctx, "GetItem", false, in, c.DB.GetItem)
}

func (c *Client) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error) {
	return ask(c, ctx, "UpdateItem", true, in, c.DB.UpdateItem)
}

func (c *Client) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	return ask(c, ctx, "BatchGetItem", false, in, c.DB.BatchGetItem)
}

func (c *Client) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	return ask(c, ctx, "BatchExecuteStatement", true, in, c.DB.BatchExecuteStatement)
}

func (c *Client) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	return ask(c, ctx, "TransactWriteItems", true, in, c.DB.TransactWriteItems)
}

func (c *Client) Query(ctx context.Context, in *dynamodb.QueryInput, _ ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	return ask(c, ctx, "Query", false, in, c.DB.Query)
}

// Scan answers with short pages.
func (c *Client) Scan(ctx context.Context, in *dynamodb.ScanInput, _ ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	page := *in
	if c.Page > 0 {
		page.Limit = aws.Int32(int32(1 + c.World.Rng.IntN(c.Page)))
	}
	return ask(c, ctx, "Scan", false, &page, c.DB.Scan)
}

// ShortPages is DynamoDB with pages of some items, so that a pass over a small table has many
// steps. It breaks off at one of them.
type ShortPages struct {
	tables.Client
	Limit   int32
	BreakAt int // 0: never
}

// ErrBrokenOff says that a pass is broken off.
var ErrBrokenOff = errors.New("the pass is broken off")

// Scan answers with a short page.
func (s *ShortPages) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	if s.BreakAt--; s.BreakAt == 0 {
		return nil, ErrBrokenOff
	}
	short := *in
	short.Limit = aws.Int32(s.Limit)
	return s.Client.Scan(ctx, &short, o...)
}
