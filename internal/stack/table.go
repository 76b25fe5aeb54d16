package stack

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/embedded"
)

// EventsTable makes the events table and returns the ARN of its stream.
func EventsTable(ctx context.Context, e *embedded.Engine, name string, indexes []string) (streamARN string, err error) {
	in := tableInput(name, indexes)
	in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true), StreamViewType: types.StreamViewTypeNewAndOldImages}
	out, err := create(ctx, e, in)
	if err != nil {
		return "", err
	}
	return aws.ToString(out.TableDescription.LatestStreamArn), nil
}

// AggregatesTable makes the aggregates table.
func AggregatesTable(ctx context.Context, e *embedded.Engine, name string) error {
	_, err := create(ctx, e, tableInput(name, nil))
	return err
}

// create makes a table whose items expire.
func create(ctx context.Context, e *embedded.Engine, in *dynamodb.CreateTableInput) (*dynamodb.CreateTableOutput, error) {
	out, err := e.DynamoDB().CreateTable(ctx, in)
	if err != nil {
		return nil, err
	}
	_, err = e.DynamoDB().UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: in.TableName,
		TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(true)}})
	return out, err
}

func tableInput(name string, indexes []string) *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &name, BillingMode: types.BillingModePayPerRequest}
	in.KeySchema = keySchema(in, "PK", "SK")
	for _, index := range indexes {
		in.GlobalSecondaryIndexes = append(in.GlobalSecondaryIndexes, types.GlobalSecondaryIndex{IndexName: aws.String(index),
			KeySchema: keySchema(in, index+"PK", index+"SK"), Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}})
	}
	return in
}

func keySchema(in *dynamodb.CreateTableInput, pk, sk string) []types.KeySchemaElement {
	for _, name := range []string{pk, sk} {
		in.AttributeDefinitions = append(in.AttributeDefinitions, types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
}
