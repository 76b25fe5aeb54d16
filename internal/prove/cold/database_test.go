package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld"
)

func client(db *database) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		Region:       "eu-central-1",
		BaseEndpoint: aws.String(db.url()),
		Credentials:  credentials.NewStaticCredentialsProvider("id", "secret", ""),
	})
}

// TestTheSDKUnderstandsTheDatabase shows that the SDK's own client understands the answers, and
// takes the writes as done.
func TestTheSDKUnderstandsTheDatabase(t *testing.T) {
	db := newDatabase()
	defer db.close()
	c, ctx, table := client(db), t.Context(), aws.String("events")
	key := map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "p"}}

	put, err := c.PutItem(ctx,
		&dynamodb.PutItemInput{TableName: table, Item: key, ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal})
	if err != nil || put.ConsumedCapacity == nil || aws.ToFloat64(put.ConsumedCapacity.CapacityUnits) != 1 {
		t.Errorf("PutItem: %+v, %v", put, err)
	}
	statement := types.BatchStatementRequest{Statement: aws.String(`INSERT INTO "events" VALUE {'PK': ?}`),
		Parameters: []types.AttributeValue{key["PK"]}}
	batch, err := c.BatchExecuteStatement(ctx,
		&dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{statement, statement},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityIndexes})
	if err != nil || len(batch.Responses) != 2 || batch.Responses[1].Error != nil || len(batch.ConsumedCapacity) != 1 ||
		aws.ToFloat64(batch.ConsumedCapacity[0].CapacityUnits) != 2 {
		t.Errorf("BatchExecuteStatement: %+v, %v", batch, err)
	}
	got, err := c.BatchGetItem(ctx,
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"events": {Keys: []map[string]types.AttributeValue{key}}}})
	if err != nil || len(got.Responses) != 0 || len(got.UnprocessedKeys) != 0 {
		t.Errorf("BatchGetItem: %+v, %v", got, err)
	}
	item, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: key})
	if err != nil || item.Item != nil || item.ConsumedCapacity != nil {
		t.Errorf("GetItem: %+v, %v", item, err)
	}
	query, err := c.Query(ctx, &dynamodb.QueryInput{TableName: table})
	if err != nil || query.Count != 0 {
		t.Errorf("Query: %+v, %v", query, err)
	}
	want := "PutItem BatchExecuteStatement BatchGetItem GetItem Query"
	if seen := strings.Join(db.seen(), " "); seen != want || !db.wrote() {
		t.Errorf("saw %s (a write: %v), want %s", seen, db.wrote(), want)
	}
}

// TestTheDatabaseRefusesTheRest shows that the database at once refuses what it does not know, and
// that the client does not try again.
func TestTheDatabaseRefusesTheRest(t *testing.T) {
	db := newDatabase()
	defer db.close()
	_, err := client(db).DeleteItem(t.Context(),
		&dynamodb.DeleteItemInput{TableName: aws.String("events"),
			Key: map[string]types.AttributeValue{"PK": &types.AttributeValueMemberS{Value: "p"}}})
	var api smithy.APIError
	if !errors.As(err, &api) || api.ErrorCode() != "UnknownOperationException" {
		t.Errorf("DeleteItem: %v", err)
	}
	res, err := http.Post(db.url()+"/123456789012/quarantine", "application/x-amz-json-1.0", strings.NewReader(`{}`))
	must.Succeed(t, err)
	res.Body.Close()
	must.Equal(t, res.StatusCode, http.StatusBadRequest)
	if seen := db.seen(); len(seen) != 2 || seen[0] != "DeleteItem" || seen[1] != "POST /123456789012/quarantine" || db.wrote() {
		t.Errorf("saw %q (a write: %v)", seen, db.wrote())
	}
	db.reset()
	if len(db.seen()) != 0 {
		t.Errorf("after reset: %q", db.seen())
	}
}

// A later start finds what the first start of a deployment wrote. It does not find any event.
func TestTheDatabaseKeepsWhatAStartWrites(t *testing.T) {
	db := newDatabase()
	defer db.close()
	c, ctx, table := client(db), t.Context(), aws.String("totals")
	of := func(pk string) map[string]types.AttributeValue {
		return testworld.Key(pk, "-")
	}
	for _, pk := range []string{"K#", "F#", "EVENT#1"} {
		_, err := c.PutItem(ctx, &dynamodb.PutItemInput{TableName: table, Item: of(pk)})
		must.Succeed(t, err)
	}
	_, err := c.TransactWriteItems(ctx,
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: table, Item: of("E#")}},
			{Put: &types.Put{TableName: table, Item: of("G#a#1")}}}})
	must.Succeed(t, err)
	_, err = c.TransactWriteItems(ctx,
		&dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Update: &types.Update{TableName: table, Key: of("E#"),
			UpdateExpression:          aws.String("SET #file = :digest"),
			ExpressionAttributeNames:  map[string]string{"#file": "file"},
			ExpressionAttributeValues: map[string]types.AttributeValue{":digest": &types.AttributeValueMemberS{Value: "00"}},
		}}}})
	must.Succeed(t, err)
	db.reset()
	for pk, want := range map[string]int{"K#": 2, "F#": 2, "EVENT#1": 0, "E#": 3} {
		got, err := c.GetItem(ctx, &dynamodb.GetItemInput{TableName: table, Key: of(pk)})
		if err != nil || len(got.Item) != want {
			t.Errorf("%s: %v, %v", pk, got, err)
		}
	}
	batch, err := c.BatchGetItem(ctx,
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{"totals": {Keys: []map[string]types.AttributeValue{of(
			"E#"), of("G#a#1"), of("G#b#1")}}}})
	if err != nil || len(batch.Responses["totals"]) != 2 {
		t.Errorf("%v, %v", batch, err)
	}
}
