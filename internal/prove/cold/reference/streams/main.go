// Command streams is the least that a Lambda function in Go does to keep totals from a table's
// stream. It uses aws-lambda-go, the DynamoDB client as its documentation sets it up, and one ADD
// for each total of each change. An order has three totals here, and a shipment one, as in the
// pipeline.yaml at the root. The cold start of the streams function is measured beside it.
package main

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	client := dynamodb.NewFromConfig(cfg)
	table := os.Getenv("INGOT_AGGREGATES_TABLE")
	lambda.Start(func(ctx context.Context, event events.DynamoDBEvent) (events.DynamoDBEventResponse, error) {
		for _, r := range event.Records {
			if err := count(ctx, client, table, r.Change); err != nil {
				return events.DynamoDBEventResponse{}, fmt.Errorf("count change %s: %w", r.Change.SequenceNumber, err)
			}
		}
		return events.DynamoDBEventResponse{}, nil
	})
}

// totals names the totals of each type of event.
var totals = map[string][]string{
	"order.placed":  {"day", "product", "customer"},
	"order.shipped": {"carrier"},
}

func count(ctx context.Context, client *dynamodb.Client, table string, change events.DynamoDBStreamRecord) error {
	kind, ok := change.NewImage["type"]
	if !ok {
		return nil
	}
	cents := "0"
	if total, ok := change.NewImage["total"]; ok {
		cents = total.Number()
	}
	for _, name := range totals[kind.String()] {
		_, err := client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: aws.String(table),
			Key: map[string]types.AttributeValue{
				"PK": &types.AttributeValueMemberS{Value: name + "#" + change.NewImage["id"].String()},
				"SK": &types.AttributeValueMemberS{Value: "-"},
			},
			UpdateExpression: aws.String("ADD orders :one, cents :cents"),
			ExpressionAttributeValues: map[string]types.AttributeValue{
				":one":   &types.AttributeValueMemberN{Value: "1"},
				":cents": &types.AttributeValueMemberN{Value: cents},
			},
		})
		if err != nil {
			return err
		}
	}
	return nil
}
