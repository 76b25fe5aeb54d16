package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// putEach does what a plain Go function does. It reads each message into a struct and puts it on
// condition that its key is free, one after another, with the SDK's default settings. Its items are
// as large as Ingot's.
func putEach(ctx context.Context, url string, batches []events.SQSEvent) (run, error) {
	client, err := plainClient(ctx, url)
	if err != nil {
		return run{}, err
	}
	var stored, requests int
	r, err := measure(func() error {
		for _, batch := range batches {
			for _, m := range batch.Records {
				requests++
				_, err := client.PutItem(ctx, plainPut(m.Body))
				var taken *types.ConditionalCheckFailedException
				switch {
				case err == nil:
					stored++
				case !errors.As(err, &taken):
					return err
				}
			}
		}
		return nil
	})
	r.events, r.requests, r.units = stored, float64(requests), float64(requests)
	return r, err
}

// plainClient makes the client of a plain function. That function leaves the collector as Go sets
// it. Ingot's functions set it when they start, and all run in this process by turns.
func plainClient(ctx context.Context, url string) (*dynamodb.Client, error) {
	surround(url)
	debug.SetGCPercent(100)
	debug.SetMemoryLimit(math.MaxInt64)
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	return dynamodb.NewFromConfig(c), nil
}

func plainPut(body string) *dynamodb.PutItemInput {
	var o struct {
		Type     string    `json:"type"`
		Merchant string    `json:"merchant_id"`
		Order    string    `json:"order_id"`
		PlacedAt time.Time `json:"placed_at"`
	}
	if err := json.Unmarshal([]byte(body), &o); err != nil {
		panic(fmt.Sprintf("an order of our own making: %v", err))
	}
	text := func(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }
	return &dynamodb.PutItemInput{
		TableName: aws.String(eventsTable),
		Item: map[string]types.AttributeValue{
			"PK": text("MERCHANT#" + o.Merchant), "SK": text("ORDER#" + o.Order), "type": text(o.Type),
			"id": text(o.Merchant + "#" + o.Order),
			"at": text(o.PlacedAt.Format(time.RFC3339Nano)), "data": text(body),
			"expiresAt": &types.AttributeValueMemberN{Value: strconv.FormatInt(o.PlacedAt.Add(90*24*time.Hour).Unix(), 10)},
		},
		ConditionExpression: aws.String("attribute_not_exists(PK)"),
	}
}

// addEach counts as most stream functions do: one ADD for each change, one after another. It counts
// a change twice if it is delivered twice. It is given the keys, and need not read a batch to find
// them.
func addEach(ctx context.Context, url string, changes []image) (run, error) {
	client, err := plainClient(ctx, url)
	if err != nil {
		return run{}, err
	}
	r, err := measure(func() error {
		for _, item := range changes {
			if _, err := client.UpdateItem(ctx, plainAdd(item["PK"].S)); err != nil {
				return err
			}
		}
		return nil
	})
	r.events, r.requests, r.units = len(changes), float64(len(changes)), float64(len(changes))
	return r, err
}

// readAndAddEach does the same as addEach, but reads the batch as Lambda sends it.
func readAndAddEach(ctx context.Context, url string, batches []json.RawMessage) (run, error) {
	client, err := plainClient(ctx, url)
	if err != nil {
		return run{}, err
	}
	changes := 0
	r, err := measure(func() error {
		for _, batch := range batches {
			var e events.DynamoDBEvent
			if err := json.Unmarshal(batch, &e); err != nil {
				return err
			}
			for _, record := range e.Records {
				if _, err := client.UpdateItem(ctx, plainAdd(record.Change.NewImage["PK"].String())); err != nil {
					return err
				}
				changes++
			}
		}
		return nil
	})
	r.events, r.requests, r.units = changes, float64(changes), float64(changes)
	return r, err
}

// addToEach adds each change to four totals of its own, one UpdateItem after another.
func addToEach(ctx context.Context, url string, changes []image) (run, error) {
	client, err := plainClient(ctx, url)
	if err != nil {
		return run{}, err
	}
	r, err := measure(func() error {
		for _, item := range changes {
			for i := range manyAggregates {
				if _, err := client.UpdateItem(ctx, plainAdd(strconv.Itoa(i)+"#"+item["SK"].S)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	r.events = len(changes)
	r.requests, r.units = float64(manyAggregates*len(changes)), float64(manyAggregates*len(changes))
	return r, err
}

func plainAdd(pk string) *dynamodb.UpdateItemInput {
	return &dynamodb.UpdateItemInput{
		TableName: aws.String(totalsTable),
		Key: map[string]types.AttributeValue{
			"PK": &types.AttributeValueMemberS{Value: "A#" + pk}, "SK": &types.AttributeValueMemberS{Value: "-"}},
		UpdateExpression: aws.String("ADD orders :one, revenue :cents"),
		ExpressionAttributeValues: map[string]types.AttributeValue{
			":one": &types.AttributeValueMemberN{Value: "1"}, ":cents": &types.AttributeValueMemberN{Value: strconv.Itoa(cents)}},
	}
}
