package dynamo

import (
	"context"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// A table that is deleted leaves a system backup, as in the service with point-in-time recovery.
// Of the backups of one name, the engine has the last one, as long as its process runs. It restores
// that once, under the same name.
// https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/PointInTimeRecovery_Howitworks.html

var (
	listBackups = api.Op("DynamoDB", "ListBackups", "TableName BackupType") // checkForm would want a table
	restore     = operation("RestoreTableFromBackup", "TargetTableName BackupArn")
)

// ListBackups lists the system backups.
func (c *Client) ListBackups(ctx context.Context, in *dynamodb.ListBackupsInput, _ ...func(*dynamodb.Options)) (*dynamodb.ListBackupsOutput,
	error) {
	return api.Call(ctx, c.ts.core, listBackups, in, c.ts.listBackups)
}

// RestoreTableFromBackup makes a table with the keys, the indexes and the items of one that was
// deleted. As in the service, it has no stream and no time to live. It is ACTIVE at once.
func (c *Client) RestoreTableFromBackup(ctx context.Context, in *dynamodb.RestoreTableFromBackupInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.RestoreTableFromBackupOutput, error) {
	return api.Call(ctx, c.ts.core, restore, in, c.ts.restore)
}

func (t *table) backup() string { return t.arn + "/backup/" + t.id }

func (ts *Service) listBackups(in *dynamodb.ListBackupsInput) (*dynamodb.ListBackupsOutput, error) {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	out := &dynamodb.ListBackupsOutput{}
	for _, name := range slices.Sorted(maps.Keys(ts.deleted)) {
		if (in.TableName == nil || *in.TableName == name) && in.BackupType != types.BackupTypeFilterUser {
			out.BackupSummaries = append(out.BackupSummaries, types.BackupSummary{BackupArn: aws.String(ts.deleted[name].backup()),
				BackupName: aws.String(name + "$DeletedTableBackup"), BackupType: types.BackupTypeSystem,
				BackupStatus: types.BackupStatusAvailable, TableName: &name})
		}
	}
	return out, nil
}

func (ts *Service) restore(in *dynamodb.RestoreTableFromBackupInput) (*dynamodb.RestoreTableFromBackupOutput, error) {
	ts.mu.Lock()
	defer ts.unlock()
	name := aws.ToString(in.TargetTableName)
	t := ts.deleted[name]
	switch {
	case ts.byName[name] != nil:
		return nil, &types.TableAlreadyExistsException{Message: aws.String("Table already exists: " + name)}
	case t == nil || t.backup() != aws.ToString(in.BackupArn):
		return nil, &types.BackupNotFoundException{Message: aws.String("Backup not found: " + aws.ToString(in.BackupArn))}
	}
	delete(ts.deleted, name)
	t.created, t.stream, t.request.streamSpec, t.ttl, t.recent = ts.core.Now(), nil, nil, "", nil
	ts.byName[name] = t
	t.keepTable()
	t.rows.scan(0, 1, nil, func(it *value.Item) bool { t.keep(nil, it); return true })
	return &dynamodb.RestoreTableFromBackupOutput{TableDescription: t.description(types.TableStatusActive)}, nil
}
