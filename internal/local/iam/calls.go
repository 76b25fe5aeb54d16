package iam

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamo "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
)

// Call is what IAM asks for one request, or for one part of it.
type Call struct {
	Action string
	// Resource is the end of the ARN, after its service: "dynamodb:table/events",
	// "dynamodb:table/events/index/GSI1", "dynamodb:table/events/stream/LABEL", "sqs:events",
	// "s3:archive/dt=2031-05-05/a.gz".
	Resource string
	Keys     []string // partition keys; nil: the request has none
}

func (c Call) service() string {
	name, _, _ := strings.Cut(c.Resource, ":")
	return name
}

// Calls lists what IAM asks for a request. A transaction and a batch of statements need the actions
// of their parts (Service Authorization Reference, "Actions, resources, and condition keys for
// Amazon DynamoDB"). It panics for a request that it does not know, so that none is left unjudged.
func Calls(api string, input any) []Call {
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		return []Call{onItem(api, in.TableName, in.Item)}
	case *dynamodb.UpdateItemInput:
		return []Call{onItem(api, in.TableName, in.Key)}
	case *dynamodb.DeleteItemInput:
		return []Call{onItem(api, in.TableName, in.Key)}
	case *dynamodb.GetItemInput:
		return []Call{onItem(api, in.TableName, in.Key)}
	case *dynamodb.BatchGetItemInput:
		var list []Call
		for table, of := range in.RequestItems {
			list = append(list, onItem(api, &table, of.Keys...))
		}
		return list
	case *dynamodb.BatchExecuteStatementInput:
		var list []Call
		for _, s := range in.Statements {
			list = append(list, ofStatement(*s.Statement))
		}
		return list
	case *dynamodb.TransactWriteItemsInput:
		var list []Call
		for _, item := range in.TransactItems {
			list = append(list, ofPart(item))
		}
		return list
	case *dynamodb.QueryInput:
		c := onItem(api, in.TableName)
		if in.IndexName != nil {
			c.Resource += "/index/" + *in.IndexName
		}
		pk := firstValue.FindString(aws.ToString(in.KeyConditionExpression))
		if pk, ok := in.ExpressionAttributeValues[pk].(*dynamo.AttributeValueMemberS); ok {
			c.Keys = []string{pk.Value}
		}
		return []Call{c}
	case *dynamodb.ScanInput:
		return []Call{onItem(api, in.TableName)}
	case *dynamodb.DescribeTableInput:
		return []Call{onItem(api, in.TableName)}
	case *dynamodbstreams.DescribeStreamInput:
		return []Call{onStream(api, *in.StreamArn)}
	case *dynamodbstreams.GetShardIteratorInput:
		return []Call{onStream(api, *in.StreamArn)}
	case *dynamodbstreams.GetRecordsInput:
		arn, _, _ := strings.Cut(*in.ShardIterator, "|")
		return []Call{onStream(api, arn)}
	case *sqs.SendMessageInput:
		return []Call{onQueue(api, in.QueueUrl)}
	case *sqs.SendMessageBatchInput:
		return []Call{onQueue("SendMessage", in.QueueUrl)}
	case *sqs.ReceiveMessageInput:
		return []Call{onQueue(api, in.QueueUrl)}
	case *sqs.ChangeMessageVisibilityInput:
		return []Call{onQueue(api, in.QueueUrl)}
	case *sqs.ChangeMessageVisibilityBatchInput:
		return []Call{onQueue("ChangeMessageVisibility", in.QueueUrl)}
	case *sqs.DeleteMessageInput:
		return []Call{onQueue(api, in.QueueUrl)}
	case *sqs.DeleteMessageBatchInput:
		return []Call{onQueue("DeleteMessage", in.QueueUrl)}
	case *sqs.GetQueueAttributesInput:
		return []Call{onQueue(api, in.QueueUrl)}
	case *sqs.GetQueueUrlInput:
		return []Call{onQueue(api, in.QueueName)}
	case *s3.ListObjectsV2Input:
		return []Call{{Action: "s3:ListBucket", Resource: "s3:" + *in.Bucket}}
	case *s3.HeadObjectInput:
		return []Call{onObject("GetObject", in.Bucket, in.Key)}
	case *s3.DeleteObjectsInput:
		var list []Call
		for _, o := range in.Delete.Objects {
			list = append(list, onObject("DeleteObject", in.Bucket, o.Key))
		}
		return list
	case *s3.PutObjectInput:
		return []Call{onObject(api, in.Bucket, in.Key)}
	case *s3.GetObjectInput:
		return []Call{onObject(api, in.Bucket, in.Key)}
	case *s3.DeleteObjectInput:
		return []Call{onObject(api, in.Bucket, in.Key)}
	}
	panic(fmt.Sprintf("iam: which action allows %s (%T)?", api, input))
}

var (
	firstValue = regexp.MustCompile(`:\w+`)
	statement  = regexp.MustCompile(`^(INSERT INTO|UPDATE|DELETE FROM|SELECT .* FROM) "([^"]+)"`)
)

// onItem is a call for the items with these keys, or for a table.
func onItem(api string, table *string, key ...map[string]dynamo.AttributeValue) Call {
	c := Call{Action: "dynamodb:" + api, Resource: "dynamodb:table/" + aws.ToString(table)}
	for _, item := range key {
		c.Keys = append(c.Keys, partition(item))
	}
	return c
}

func partition(item map[string]dynamo.AttributeValue) string {
	pk, _ := item["PK"].(*dynamo.AttributeValueMemberS)
	if pk == nil { // a table that is not Ingot's
		return ""
	}
	return pk.Value
}

// ofStatement is the call for a PartiQL statement. Its keys are not read: no role has conditions
// for statements.
func ofStatement(text string) Call {
	m := statement.FindStringSubmatch(text)
	if m == nil {
		panic("iam: which action allows " + text + "?")
	}
	word, _, _ := strings.Cut(m[1], " ")
	return onItem("PartiQL"+word[:1]+strings.ToLower(word[1:]), &m[2])
}

func ofPart(item dynamo.TransactWriteItem) Call {
	switch {
	case item.Put != nil:
		return onItem("PutItem", item.Put.TableName, item.Put.Item)
	case item.Update != nil:
		return onItem("UpdateItem", item.Update.TableName, item.Update.Key)
	case item.Delete != nil:
		return onItem("DeleteItem", item.Delete.TableName, item.Delete.Key)
	}
	return onItem("ConditionCheckItem", item.ConditionCheck.TableName, item.ConditionCheck.Key)
}

func onStream(api, arn string) Call {
	_, table, _ := strings.Cut(arn, ":table/")
	return Call{Action: "dynamodb:" + api, Resource: "dynamodb:table/" + table}
}

func onQueue(api string, url *string) Call {
	return Call{Action: "sqs:" + api, Resource: "sqs:" + (*url)[strings.LastIndexByte(*url, '/')+1:]}
}

func onObject(api string, bucket, key *string) Call {
	return Call{Action: "s3:" + api, Resource: "s3:" + aws.ToString(bucket) + "/" + aws.ToString(key)}
}
