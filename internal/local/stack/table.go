package stack

import (
	"cmp"
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// TableClient is a client that can create tables: the engine's, or the SDK's.
type TableClient interface {
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
	UpdateTimeToLive(context.Context, *dynamodb.UpdateTimeToLiveInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error)
}

// Table describes a table to create. Its keys are PK and SK.
type Table struct {
	Name    string
	Indexes []string  // the keys of GSI1 are GSI1PK and GSI1SK
	Keys    [2]string // the names of its keys, which are texts; empty: PK and SK
	Ranked  bool      // with the index that keeps totals in order
	Stream  bool      // with both images
	Expires bool      // time to live removes items that are past their expiresAt
}

// EventsTable returns the events table that template.yaml declares.
func EventsTable(name string, indexes ...string) Table {
	return Table{Name: name, Indexes: indexes, Stream: true, Expires: true}
}

// AggregatesTable returns the aggregates table that template.yaml declares.
func AggregatesTable(name string) Table { return Table{Name: name, Ranked: true, Expires: true} }

// longestCreation limits how long Create waits until a service has created a table.
const longestCreation = 3 * time.Minute

// Create creates the table and waits until it can be used. If the table has a stream, Create
// returns the ARN of the stream.
func (t Table) Create(ctx context.Context, db TableClient) (streamARN string, err error) {
	out, err := db.CreateTable(ctx, t.Input())
	if err != nil {
		return "", err
	}
	made := out.TableDescription
	if made.TableStatus != types.TableStatusActive || t.Stream && made.LatestStreamArn == nil { // not on the engine
		wait := dynamodb.NewTableExistsWaiter(db, func(o *dynamodb.TableExistsWaiterOptions) {
			o.MinDelay, o.MaxDelay = 50*time.Millisecond, time.Second
		})
		described, err := wait.WaitForOutput(ctx, &dynamodb.DescribeTableInput{TableName: &t.Name}, longestCreation)
		if err != nil {
			return "", err
		}
		made = described.Table
	}
	if t.Expires {
		_, err = db.UpdateTimeToLive(ctx, &dynamodb.UpdateTimeToLiveInput{TableName: &t.Name,
			TimeToLiveSpecification: &types.TimeToLiveSpecification{AttributeName: aws.String("expiresAt"), Enabled: aws.Bool(true)}})
	}
	return aws.ToString(made.LatestStreamArn), err
}

// Input returns the request that creates the table.
func (t Table) Input() *dynamodb.CreateTableInput {
	in := &dynamodb.CreateTableInput{TableName: &t.Name, BillingMode: types.BillingModePayPerRequest}
	in.KeySchema = keySchema(in, cmp.Or(t.Keys[0], "PK"), cmp.Or(t.Keys[1], "SK"))
	add := func(index types.GlobalSecondaryIndex, attributes []types.AttributeDefinition) {
		in.GlobalSecondaryIndexes, in.AttributeDefinitions = append(in.GlobalSecondaryIndexes, index),
			append(in.AttributeDefinitions, attributes...)
	}
	for _, index := range t.Indexes {
		add(Index(index))
	}
	if t.Ranked {
		add(RankIndex())
	}
	if t.Stream {
		in.StreamSpecification = &types.StreamSpecification{StreamEnabled: aws.Bool(true),
			StreamViewType: types.StreamViewTypeNewAndOldImages}
	}
	return in
}

// Index returns the definition of an index of the events table, and the attributes that are its
// keys.
func Index(name string) (types.GlobalSecondaryIndex, []types.AttributeDefinition) {
	var in dynamodb.CreateTableInput
	keys := keySchema(&in, name+"PK", name+"SK")
	return types.GlobalSecondaryIndex{IndexName: &name, KeySchema: keys,
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeAll}}, in.AttributeDefinitions
}

// RankIndex returns the definition of the index that keeps the totals of the aggregates table in
// order, and the attributes that are its keys.
func RankIndex() (types.GlobalSecondaryIndex, []types.AttributeDefinition) {
	var in dynamodb.CreateTableInput
	keys := keySchema(&in, lanes.RankAttribute, lanes.ScoreAttribute)
	in.AttributeDefinitions[1].AttributeType = types.ScalarAttributeTypeN
	return types.GlobalSecondaryIndex{IndexName: aws.String(lanes.RankIndex), KeySchema: keys,
		Projection: &types.Projection{ProjectionType: types.ProjectionTypeKeysOnly}}, in.AttributeDefinitions
}

func keySchema(in *dynamodb.CreateTableInput, pk, sk string) []types.KeySchemaElement {
	for _, name := range []string{pk, sk} {
		in.AttributeDefinitions = append(in.AttributeDefinitions,
			types.AttributeDefinition{AttributeName: aws.String(name), AttributeType: types.ScalarAttributeTypeS})
	}
	return []types.KeySchemaElement{{AttributeName: &pk, KeyType: types.KeyTypeHash}, {AttributeName: &sk, KeyType: types.KeyTypeRange}}
}
