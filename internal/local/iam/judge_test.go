package iam

import (
	"context"
	"errors"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamo "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestLike(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"a", "a", true}, {"a", "ab", false}, {"*", "", true}, {"*", "a/b", true}, {"a*", "a", true}, {"a*", "ba", false},
		{"*a", "ba", true}, {"a*b*c", "a-b-b-c", true}, {"a*b*c", "a-c-b", false}, {"a*a", "a", false}, {"M#*", "M#x/y", true},
	} {
		must.Equal(t, like(c.pattern, c.text), c.want, c.pattern, c.text)
	}
}

// What no statement allows is denied before it is carried out: other actions, other resources, and
// other partition keys, in batches too.
func TestJudged(t *testing.T) {
	r := &Role{Name: "R", Statements: []Statement{
		{Actions: []string{"dynamodb:PutItem"}, Resources: []string{"dynamodb:table/events"}},
		{Actions: []string{"dynamodb:BatchGetItem", "dynamodb:Query"}, Resources: []string{"dynamodb:table/totals"}, Keys: []string{"M#*"}},
		{Actions: []string{"dynamodb:PartiQLInsert"}, Resources: []string{"dynamodb:table/totals"}},
		{Actions: []string{"s3:GetObject"}, Resources: []string{"s3:b/*"}},
	}}
	key := func(pk string) map[string]dynamo.AttributeValue {
		return map[string]dynamo.AttributeValue{"PK": &dynamo.AttributeValueMemberS{Value: pk}}
	}
	many := func(pks ...string) *dynamodb.BatchGetItemInput {
		of := dynamo.KeysAndAttributes{}
		for _, pk := range pks {
			of.Keys = append(of.Keys, key(pk))
		}
		return &dynamodb.BatchGetItemInput{RequestItems: map[string]dynamo.KeysAndAttributes{"totals": of}}
	}
	statements := func(texts ...string) *dynamodb.BatchExecuteStatementInput {
		in := &dynamodb.BatchExecuteStatementInput{}
		for _, text := range texts {
			in.Statements = append(in.Statements, dynamo.BatchStatementRequest{Statement: aws.String(text)})
		}
		return in
	}
	events := aws.String("events")
	for _, c := range []struct {
		api    string
		in     any
		denied string
	}{
		{"PutItem", &dynamodb.PutItemInput{TableName: events, Item: key("a")}, ""},
		{"PutItem", &dynamodb.PutItemInput{TableName: aws.String("totals"), Item: key("a")}, "dynamodb:PutItem on dynamodb:table/totals a"},
		{"GetItem", &dynamodb.GetItemInput{TableName: events, Key: key("a")}, "dynamodb:GetItem on dynamodb:table/events a"},
		{"BatchGetItem", many("M#a", "M#b"), ""},
		{"BatchGetItem", many("M#a", "T#b"), "dynamodb:BatchGetItem on dynamodb:table/totals M#a T#b"},
		{"Query", &dynamodb.QueryInput{TableName: aws.String("totals"), KeyConditionExpression: aws.String("PK = :p AND SK > :s"),
			ExpressionAttributeValues: map[string]dynamo.AttributeValue{":p": key("T#x")["PK"], ":s": key("M#")["PK"]}},
			"dynamodb:Query on dynamodb:table/totals T#x"},
		{"BatchExecuteStatement", statements(`INSERT INTO "totals" VALUE ?`), ""},
		{"BatchExecuteStatement", statements(`INSERT INTO "totals" VALUE ?`, `UPDATE "totals" SET x=?`),
			"dynamodb:PartiQLUpdate on dynamodb:table/totals "},
		{"TransactWriteItems", &dynamodb.TransactWriteItemsInput{TransactItems: []dynamo.TransactWriteItem{
			{Put: &dynamo.Put{TableName: events, Item: key("a")}},
			{ConditionCheck: &dynamo.ConditionCheck{TableName: events, Key: key("b")}}}},
			"dynamodb:ConditionCheckItem on dynamodb:table/events b"},
	} {
		r.denied = nil
		called := false
		_, err := Judged(nil)(As(t.Context(), r), c.api, c.in, func() (any, error) { called = true; return nil, nil })
		must.Equal(t, called, c.denied == "", c.api)
		if c.denied != "" {
			var refused smithy.APIError
			must.Equal(t, errors.As(err, &refused) && refused.ErrorCode() == "AccessDeniedException", true, err)
			must.Match(t, r.Denied(), []string{c.denied})
		}
	}
	_, err := Judged(nil)(context.Background(), "PutItem", &dynamodb.PutItemInput{TableName: aws.String("x")},
		func() (any, error) { return nil, nil })
	must.Succeed(t, err) // the world's own

	// That an object is missing is told to who may list its bucket.
	missing := func() error {
		_, err := Judged(nil)(As(t.Context(), r), "GetObject", &s3.GetObjectInput{Bucket: aws.String("b"), Key: aws.String("k")},
			func() (any, error) { return nil, &types.NoSuchKey{} })
		return err
	}
	must.Fail(t, missing(), "s3:ListBucket")
	r.Statements = append(r.Statements, Statement{Actions: []string{"s3:ListBucket"}, Resources: []string{"s3:b"}})
	must.Fail(t, missing(), "NoSuchKey")
}
