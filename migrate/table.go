package migrate

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/tables"
)

// Describer is what a client needs so that a table can be found.
type Describer interface {
	DescribeTable(context.Context, *dynamodb.DescribeTableInput, ...func(*dynamodb.Options)) (*dynamodb.DescribeTableOutput, error)
}

// Table is the old table, as it describes itself.
type Table struct {
	Source
	Items, Bytes int64  // as DynamoDB counts them, every six hours
	Images       string // the stream's view type
	ARN          string
}

// Find describes the old table, and sends one request.
func Find(ctx context.Context, client tables.Client, d Describer, name string) (*Table, error) {
	out, err := d.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &name})
	if gone := (*types.ResourceNotFoundException)(nil); errors.As(err, &gone) {
		return nil, fmt.Errorf("there is no table %s in this account and Region: migration.yaml names it as from.table", name)
	}
	if err != nil {
		return nil, fmt.Errorf("describing table %s: %w", name, err)
	}
	t := out.Table
	old := &Table{Source: Source{Client: client, Table: name, ID: aws.ToString(t.TableId)}, Items: aws.ToInt64(t.ItemCount),
		Bytes: aws.ToInt64(t.TableSizeBytes),
		ARN:   aws.ToString(t.TableArn)}
	for _, kind := range []types.KeyType{types.KeyTypeHash, types.KeyTypeRange} {
		for _, k := range t.KeySchema {
			if k.KeyType == kind {
				old.Keys = append(old.Keys, *k.AttributeName)
				for _, a := range t.AttributeDefinitions {
					if *a.AttributeName == *k.AttributeName {
						old.Kinds = append(old.Kinds, a.AttributeType)
					}
				}
			}
		}
	}
	if t.StreamSpecification != nil && aws.ToBool(t.StreamSpecification.StreamEnabled) {
		old.Stream, old.Images = aws.ToString(t.LatestStreamArn), string(t.StreamSpecification.StreamViewType)
	}
	return old, nil
}
