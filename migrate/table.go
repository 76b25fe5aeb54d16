package migrate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate/rowmap"
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

// Find describes the old table, and the events table that it moves into. It sends two requests.
func Find(ctx context.Context, client tables.Client, d Describer, name, events string) (*Table, error) {
	t, err := describe(ctx, d, name)
	if gone := (*types.ResourceNotFoundException)(nil); errors.As(err, &gone) {
		return nil, fmt.Errorf("there is no table %s in this account and Region: migration.yaml names it as from.table", name)
	}
	if err != nil {
		return nil, err
	}
	target, err := describe(ctx, d, events)
	if err != nil {
		return nil, err
	}
	old := &Table{Source: Source{Client: client, Describer: d, Table: name, ID: aws.ToString(t.TableId),
		EventsID: aws.ToString(target.TableId)},
		Items: aws.ToInt64(t.ItemCount), Bytes: aws.ToInt64(t.TableSizeBytes), ARN: aws.ToString(t.TableArn)}
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
	old.Stream, old.Images = streamOf(t)
	old.Events, _ = streamOf(target)
	return old, nil
}

// Open makes the Migration of a function: of the migration.yaml with this name among files, which
// may name the old table by a variable, and of the tables of c. It sends two requests.
func Open(ctx context.Context, files fs.FS, name string, c tables.Config) (*Migration, error) {
	m, err := rowmap.Load(files, name, c.Pipeline)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	table, err := m.From(os.Getenv)
	if err != nil {
		return nil, err
	}
	client, ok := c.Client.(Describer)
	if !ok {
		return nil, errors.New("a local build has no old table")
	}
	old, err := Find(ctx, c.Client, client, table, c.Events)
	if err != nil {
		return nil, err
	}
	return NewMigration(m, old.Source, c)
}

func describe(ctx context.Context, d Describer, table string) (*types.TableDescription, error) {
	out, err := d.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if err != nil {
		return nil, fmt.Errorf("describing table %s: %w", table, err)
	}
	return out.Table, nil
}

func streamOf(t *types.TableDescription) (arn, images string) {
	if t.StreamSpecification == nil || !aws.ToBool(t.StreamSpecification.StreamEnabled) {
		return "", ""
	}
	return aws.ToString(t.LatestStreamArn), string(t.StreamSpecification.StreamViewType)
}

// unchanged has an error if the source of a direction is not the table any more that it was: a
// [*StopError]. It is asked after what is missing there was looked for, and before anything is
// removed for that. A table that was deleted and created anew lacks everything.
func (s *Migration) unchanged(ctx context.Context, way Direction) rows.Answer {
	table, id := s.old.Table, s.old.ID
	if way == Backward {
		table, id = s.store.Events, s.old.EventsID
	}
	t, err := describe(ctx, s.old.Describer, table)
	if err != nil {
		return rows.Classify(err)
	}
	if now := aws.ToString(t.TableId); now != id {
		return rows.Answer{Outcome: rows.Invalid, Err: stopped("table %s was %s, and is %s now: it was created again, and what it lacks is not "+
			"removed from its copy", table, id, now)}
	}
	return rows.Answer{}
}
