package testworld

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/table/rows"
)

// Test is what these helpers need of a test. It is not testing.TB, because the tool has worlds too,
// and must not contain the package testing.
type Test interface {
	Helper()
	Fatal(args ...any)
}

// Put stores an item as it is, in place of the one that has its key.
func (w *World) Put(t Test, table string, item rows.Image) {
	t.Helper()
	_, err := w.Engine.DynamoDB().PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &table, Item: item})
	succeed(t, err)
}

// Get returns an item as it is stored, or nil if there is none.
func (w *World) Get(t Test, table string, key rows.Image) rows.Image {
	t.Helper()
	in := &dynamodb.GetItemInput{TableName: &table, Key: key, ConsistentRead: new(true)}
	out, err := w.Engine.DynamoDB().GetItem(context.Background(), in)
	succeed(t, err)
	return out.Item
}

// Delete deletes an item, as a person or time to live does.
func (w *World) Delete(t Test, table string, key rows.Image) {
	t.Helper()
	_, err := w.Engine.DynamoDB().DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	succeed(t, err)
}

// Alter changes an item as an update expression says. In it, :v stands for the value, which is nil
// if there is none. #n stands for the name of an attribute that an expression cannot contain.
func (w *World) Alter(t Test, table string, key rows.Image, expression string, value types.AttributeValue, name ...string) {
	t.Helper()
	in := &dynamodb.UpdateItemInput{TableName: &table, Key: key, UpdateExpression: &expression}
	if value != nil {
		in.ExpressionAttributeValues = rows.Image{":v": value}
	}
	for _, n := range name {
		in.ExpressionAttributeNames = map[string]string{"#n": n}
	}
	_, err := w.Engine.DynamoDB().UpdateItem(context.Background(), in)
	succeed(t, err)
}

func succeed(t Test, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
