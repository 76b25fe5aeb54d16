package embedded_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

func benchEngine(b *testing.B) *embedded.DynamoDB {
	db := embedded.New(embedded.Config{}).DynamoDB()
	_, err := db.CreateTable(background, tableInput("events"))
	held(b, err)
	b.ReportAllocs()
	b.ResetTimer()
	return db
}

// BenchmarkPutItem times the engine alone. It builds the requests beforehand, a thousand at a time.
func BenchmarkPutItem(b *testing.B) {
	db := benchEngine(b)
	data := s(strings.Repeat("x", 400))
	requests := make([]*dynamodb.PutItemInput, 1000)
	for done := 0; done < b.N; done += len(requests) {
		b.StopTimer()
		for i := range requests {
			it := attrs{"PK": s(fmt.Sprintf("ORDER#%09d", done+i)), "SK": s("ORDER"), "type": s("order.placed"), "id": s("id"),
				"at":     s("2030-01-01T00:00:00.000000000Z"),
				"digest": &types.AttributeValueMemberB{Value: make([]byte, 32)}, "epoch": n("1"), "expiresAt": n("1900000000"),
				"data": data}
			requests[i] = &dynamodb.PutItemInput{TableName: aws.String("events"), Item: it,
				ConditionExpression: aws.String("attribute_not_exists(PK)")}
		}
		b.StartTimer()
		for _, in := range requests[:min(len(requests), b.N-done)] {
			_, err := db.PutItem(background, in)
			held(b, err)
		}
	}
}

func BenchmarkUpdateItem(b *testing.B) {
	db := benchEngine(b)
	for range b.N {
		_, err := db.UpdateItem(background, &dynamodb.UpdateItemInput{TableName: aws.String("events"), Key: key("A#1", "-"),
			UpdateExpression:         aws.String("SET #m = :last ADD n :n, fp :fp, orders :n, revenue :r"),
			ConditionExpression:      aws.String("attribute_not_exists(#m) OR #m < :first"),
			ExpressionAttributeNames: map[string]string{"#m": "m:lane"},
			ExpressionAttributeValues: attrs{":n": n("1"), ":fp": n("1152921504606846975"), ":r": n("12.50"),
				":last": &types.AttributeValueMemberB{Value: []byte{1}}, ":first": &types.AttributeValueMemberB{Value: []byte{2}}}})
		held(b, err)
	}
}

func BenchmarkGetItem(b *testing.B) {
	db := benchEngine(b)
	_, err := db.PutItem(background,
		&dynamodb.PutItemInput{TableName: aws.String("events"), Item: item("a", "1", attrs{"v": n("1")})})
	held(b, err)
	for range b.N {
		_, err := db.GetItem(background, &dynamodb.GetItemInput{TableName: aws.String("events"), Key: key("a", "1")})
		held(b, err)
	}
}

func BenchmarkInsert25(b *testing.B) {
	db := benchEngine(b)
	for i := 0; i < b.N; i += 25 {
		in := &dynamodb.BatchExecuteStatementInput{}
		for j := range 25 {
			in.Statements = append(in.Statements, insert(fmt.Sprintf("ORDER#%09d", i+j), "ORDER", "x"))
		}
		_, err := db.BatchExecuteStatement(background, in)
		held(b, err)
	}
}
