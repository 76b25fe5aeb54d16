package embedded_test

import (
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// A table that is deleted can be restored as it was, without stream and time to live. What is
// restored outlives the process.
func TestRestore(t *testing.T) {
	journal := newMemory()
	e := embedded.New(embedded.Config{Seed: 1, Journal: journal})
	db, events := e.DynamoDB(), aws.String("events")
	backups := func(in *dynamodb.ListBackupsInput) []types.BackupSummary {
		out, err := db.ListBackups(background, in)
		must.Succeed(t, err)
		return out.BackupSummaries
	}
	restore := func(backup *string) (*types.TableDescription, error) {
		out, err := db.RestoreTableFromBackup(background, &dynamodb.RestoreTableFromBackupInput{TargetTableName: events, BackupArn: backup})
		if err != nil {
			return nil, err
		}
		return out.TableDescription, nil
	}
	put := func(name string) {
		_, err := db.PutItem(background, &dynamodb.PutItemInput{TableName: events,
			Item: item(name, "1", attrs{"GSI1PK": s("all"), "GSI1SK": s(name)})})
		must.Succeed(t, err)
	}
	table := stack.EventsTable("events", "GSI1")
	_, err := table.Create(background, db)
	must.Succeed(t, err)
	must.Equal(t, len(backups(&dynamodb.ListBackupsInput{})), 0)
	for _, rounds := range []string{"one", "two"} { // the last backup of a name counts
		put(rounds)
		_, err = db.DeleteTable(background, &dynamodb.DeleteTableInput{TableName: events})
		must.Succeed(t, err)
		found := backups(&dynamodb.ListBackupsInput{TableName: events, BackupType: types.BackupTypeFilterSystem})
		must.Equal(t, len(found), 1)
		must.Equal(t, *found[0].BackupName, "events$DeletedTableBackup")
		is, err := restore(found[0].BackupArn)
		must.Succeed(t, err)
		if is.LatestStreamArn != nil || is.StreamSpecification != nil || len(is.GlobalSecondaryIndexes) != len(table.Indexes) {
			t.Errorf("%+v", is)
		}
		ttl, err := db.DescribeTimeToLive(background, &dynamodb.DescribeTimeToLiveInput{TableName: events})
		must.Succeed(t, err)
		must.Equal(t, ttl.TimeToLiveDescription.TimeToLiveStatus, types.TimeToLiveStatusDisabled)
	}
	_, err = restore(aws.String("any"))
	if there := (*types.TableAlreadyExistsException)(nil); !errors.As(err, &there) {
		t.Errorf("a table that is there: %v", err)
	}
	_, err = db.DeleteTable(background, &dynamodb.DeleteTableInput{TableName: events})
	must.Succeed(t, err)
	must.Equal(t, len(backups(&dynamodb.ListBackupsInput{BackupType: types.BackupTypeFilterUser})), 0)
	found := backups(&dynamodb.ListBackupsInput{TableName: events})
	_, err = restore(aws.String(*found[0].BackupArn + "x"))
	if none := (*types.BackupNotFoundException)(nil); !errors.As(err, &none) {
		t.Errorf("no backup: %v", err)
	}
	_, err = restore(found[0].BackupArn)
	must.Succeed(t, err)
	again, err := embedded.Open(embedded.Config{Seed: 2, Journal: journal})
	must.Succeed(t, err)
	for _, db := range []*embedded.DynamoDB{db, again.DynamoDB()} {
		out, err := db.Query(background, &dynamodb.QueryInput{TableName: events, IndexName: aws.String("GSI1"),
			KeyConditionExpression: aws.String("GSI1PK = :p"), ExpressionAttributeValues: attrs{":p": s("all")}})
		must.Succeed(t, err)
		must.Equal(t, len(out.Items), 2)
	}
}
