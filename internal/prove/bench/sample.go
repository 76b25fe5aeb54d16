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

// oneByOne measures a plain function, which sends one request after another with the SDK's default
// settings. do returns how many events it stored or counted, and in how many requests.
func oneByOne(ctx context.Context, url string, do func(*dynamodb.Client) (events, requests int, err error)) (run, error) {
	client, err := plainClient(ctx, url)
	if err != nil {
		return run{}, err
	}
	var events, requests int
	r, err := measure(func() (err error) {
		events, requests, err = do(client)
		return err
	})
	r.events, r.requests, r.units = events, float64(requests), float64(requests)
	return r, err
}

// putEach does what a plain Go function does. It reads each message into a struct and puts it on
// condition that its key is free. Its items are as large as Ingot's.
func putEach(ctx context.Context, url string, batches []events.SQSEvent) (run, error) {
	return oneByOne(ctx, url, func(client *dynamodb.Client) (stored, requests int, err error) {
		for _, batch := range batches {
			for _, m := range batch.Records {
				requests++
				_, err := client.PutItem(ctx, plainPut(m.Body))
				var taken *types.ConditionalCheckFailedException
				switch {
				case err == nil:
					stored++
				case !errors.As(err, &taken):
					return stored, requests, err
				}
			}
		}
		return stored, requests, nil
	})
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

// addEach counts as most stream functions do: one ADD for each total of a change, one after
// another. It counts a change twice if it is delivered twice. It is given the items, and need not
// read a batch to find them. totals returns the keys of a change's totals.
func addEach(ctx context.Context, url string, changes []image, totals func(image) []string) (run, error) {
	return oneByOne(ctx, url, func(client *dynamodb.Client) (counted, requests int, err error) {
		for _, item := range changes {
			for _, pk := range totals(item) {
				if _, err := client.UpdateItem(ctx, plainAdd(pk)); err != nil {
					return counted, requests, err
				}
				requests++
			}
			counted++
		}
		return counted, requests, nil
	})
}

// ofMerchant returns the one total of an order.
func ofMerchant(item image) []string { return []string{item["PK"].S} }

// ofEach returns as many totals of an order as many.yaml has, which no other order has.
func ofEach(item image) (totals []string) {
	for i := range manyAggregates {
		totals = append(totals, strconv.Itoa(i)+"#"+item["SK"].S)
	}
	return totals
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
