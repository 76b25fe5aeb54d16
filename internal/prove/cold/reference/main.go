// Command reference is the least that a Lambda function in Go does to store an event. It uses
// aws-lambda-go, the DynamoDB client as its documentation sets it up, and one PutItem for each
// message. The cold start of the ingest function is measured beside it.
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
	table := os.Getenv("INGOT_TABLE")
	lambda.Start(func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		for _, m := range event.Records {
			if err := put(ctx, client, table, m); err != nil {
				return events.SQSEventResponse{}, fmt.Errorf("put message %s: %w", m.MessageId, err)
			}
		}
		return events.SQSEventResponse{}, nil
	})
}

func put(ctx context.Context, client *dynamodb.Client, table string, m events.SQSMessage) error {
	_, err := client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:           aws.String(table),
		ConditionExpression: aws.String("attribute_not_exists(PK)"),
		Item: map[string]types.AttributeValue{
			"PK":   &types.AttributeValueMemberS{Value: m.MessageId},
			"SK":   &types.AttributeValueMemberS{Value: "-"},
			"data": &types.AttributeValueMemberS{Value: m.Body},
		},
	})
	return err
}
