package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

type attributes = map[string]types.AttributeValue

// request describes what a request asks for.
func (w *world) request(in any) string {
	switch in := in.(type) {
	case *dynamodb.PutItemInput:
		return text(in.Item["PK"])
	case *dynamodb.GetItemInput:
		return w.names.address(text(in.Key["PK"]), text(in.Key["SK"]))
	case *dynamodb.UpdateItemInput:
		return w.update(in.Key, in.UpdateExpression, in.ConditionExpression, in.ExpressionAttributeNames, in.ExpressionAttributeValues)
	case *dynamodb.BatchExecuteStatementInput:
		said := make([]string, len(in.Statements))
		for i, s := range in.Statements {
			said[i] = w.statement(s)
		}
		if strings.Contains(said[0], ": ") { // of totals: one line for each
			return strings.Join(said, "; ")
		}
		return strings.Join(said, ", ")
	case *dynamodb.BatchGetItemInput:
		var keys []string
		for _, table := range slices.Sorted(maps.Keys(in.RequestItems)) {
			for _, key := range in.RequestItems[table].Keys {
				keys = append(keys, w.names.address(text(key["PK"]), text(key["SK"])))
			}
		}
		return strings.Join(keys, ", ")
	case *dynamodb.TransactWriteItemsInput:
		var parts []string
		for _, item := range in.TransactItems {
			switch {
			case item.Put != nil:
				parts = append(parts, w.names.address(text(item.Put.Item["PK"]), text(item.Put.Item["SK"])))
			case item.Update != nil:
				u := item.Update
				parts = append(parts, w.update(u.Key, u.UpdateExpression, u.ConditionExpression, u.ExpressionAttributeNames,
					u.ExpressionAttributeValues))
			}
		}
		return strings.Join(parts, "; ")
	case *sqs.SendMessageBatchInput:
		if len(in.Entries) == 1 {
			return "1 letter to quarantine"
		}
		return fmt.Sprintf("%d letters to quarantine", len(in.Entries))
	case *s3.PutObjectInput:
		return shortName(aws.ToString(in.Key))
	}
	return ""
}

// parameter finds an attribute's value in INSERT INTO "table" VALUE {'name': ?, …}.
func parameter(s types.BatchStatementRequest, name string) string {
	_, list, _ := strings.Cut(aws.ToString(s.Statement), "{")
	for i, part := range strings.Split(list, ", ") {
		if strings.HasPrefix(part, "'"+name+"'") && i < len(s.Parameters) {
			return text(s.Parameters[i])
		}
	}
	return "?"
}

// update describes, in the words of the protocol, what an update of an aggregate item adds and
// sets.
func (w *world) update(key attributes, update, condition *string, named map[string]string, values attributes) string {
	e := &expression{names: w.names, named: named, values: values}
	for _, clause := range clauses(aws.ToString(update)) {
		e.clause(clause.word, clause.parts)
	}
	e.condition(aws.ToString(condition))
	return w.names.address(text(key["PK"]), text(key["SK"])) + ": " + strings.Join(e.said, ", ")
}

// shortName abbreviates the hashes in an object's name.
func shortName(name string) string {
	parts := strings.Split(strings.TrimSuffix(name, ".json"), "/")
	for i, part := range parts {
		if len(part) == 64 {
			parts[i] = part[:6] + "…"
		}
	}
	return strings.Join(parts, "/")
}

// text returns a scalar as text, from any table or stream.
func text(v any) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *streamtypes.AttributeValueMemberS:
		return v.Value
	case *streamtypes.AttributeValueMemberN:
		return v.Value
	}
	return ""
}
