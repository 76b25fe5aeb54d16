package rowmap_test

import (
	"fmt"
	"testing/fstest"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
)

// A row of the old table becomes an event of the pipeline.
func ExampleMapping_Map() {
	files := fstest.MapFS{
		"pipeline.yaml": {Data: []byte(`ingot: 1
epoch: 1
events:
  user: {id: "{account}", at: "{since}", key: {pk: "ACCOUNT#{account}", sk: "USER"}, migrated: users}
`)},
		"migration.yaml": {Data: []byte(`migration: 1
name: users
from: {table: UserDataV1}
rows:
  - type: user
    payload: {account: "{userId | split:2}", since: "{createdAt}"}
`)},
	}
	p, err := pipeline.Load(files, "pipeline.yaml")
	if err != nil {
		panic(err)
	}
	m, err := rowmap.Load(files, "migration.yaml", p)
	if err != nil {
		panic(err)
	}
	row := rowmap.Row{"userId": &types.AttributeValueMemberS{Value: "USER#4711"},
		"createdAt": &types.AttributeValueMemberS{Value: "2024-03-05T14:07:31Z"}}
	fmt.Println(m.Map(row).Items[0].Key)
	// Output: ACCOUNT#4711 / USER
}
