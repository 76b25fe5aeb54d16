package esm

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	queues "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// queueSample is the record in the Lambda developer guide's example of an SQS event.
const queueSample = `{
  "messageId": "059f36b4-87a3-44ab-83d2-661975830a7d",
  "receiptHandle": "AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a...",
  "body": "Test message.",
  "attributes": {
    "ApproximateFirstReceiveTimestamp": "1545082649185",
    "ApproximateReceiveCount": "1",
    "SenderId": "AIDAIENQZJOLO23YVJ4VO",
    "SentTimestamp": "1545082649183"
  },
  "messageAttributes": {
    "myAttribute": {"stringValue": "myValue", "stringListValues": [], "binaryListValues": [], "dataType": "String"}
  },
  "md5OfBody": "e4e68fb7bd0e697a0ae8f1bb342846b3",
  "eventSource": "aws:sqs",
  "eventSourceARN": "arn:aws:sqs:us-east-2:123456789012:my-queue",
  "awsRegion": "us-east-2"
}`

func TestQueueRecordIsLambdas(t *testing.T) {
	m := queues.Message{
		MessageId: aws.String("059f36b4-87a3-44ab-83d2-661975830a7d"), ReceiptHandle: aws.String("AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a..."),
		Body: aws.String("Test message."), MD5OfBody: aws.String("e4e68fb7bd0e697a0ae8f1bb342846b3"),
		Attributes: map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": "1545082649183", "SenderId": "AIDAIENQZJOLO23YVJ4VO",
			"ApproximateFirstReceiveTimestamp": "1545082649185"},
		MessageAttributes: map[string]queues.MessageAttributeValue{
			"myAttribute": {DataType: aws.String("String"), StringValue: aws.String("myValue")},
		},
	}
	golden(t, encodeMessage(m, "arn:aws:sqs:us-east-2:123456789012:my-queue"), queueSample)
}

func TestQueueRecordOfEveryKindOfAttribute(t *testing.T) {
	body := "line\n\"quoted\" \\ \u0001 <é> \u2028"
	m := queues.Message{
		MessageId: aws.String("m"), ReceiptHandle: aws.String("r"), Body: &body, MD5OfBody: aws.String("x"),
		MD5OfMessageAttributes: aws.String("y"),
		Attributes:             map[string]string{"MessageGroupId": "g", "SequenceNumber": "18849496460467696128"},
		MessageAttributes: map[string]queues.MessageAttributeValue{
			"n": {DataType: aws.String("Number"), StringValue: aws.String("1.50")},
			"b": {DataType: aws.String("Binary"), BinaryValue: []byte{0, 1, 0xff}},
			"e": {DataType: aws.String("String.x"), StringValue: aws.String("")},
		},
	}
	payload := append(openEvent([][]byte{encodeMessage(m, "arn:aws:sqs:eu-west-1:1:q.fifo")}), '}')
	var decoded events.SQSEvent
	must.Succeed(t, json.Unmarshal(payload, &decoded))
	got := decoded.Records[0]
	if got.Body != body || got.AWSRegion != "eu-west-1" || got.Md5OfMessageAttributes != "y" || got.Attributes["MessageGroupId"] != "g" {
		t.Errorf("record %+v", got)
	}
	want := map[string]events.SQSMessageAttribute{
		"n": {DataType: "Number", StringValue: aws.String("1.50"), StringListValues: []string{}, BinaryListValues: [][]byte{}},
		"b": {DataType: "Binary", BinaryValue: []byte{0, 1, 0xff}, StringListValues: []string{}, BinaryListValues: [][]byte{}},
		"e": {DataType: "String.x", StringValue: aws.String(""), StringListValues: []string{}, BinaryListValues: [][]byte{}},
	}
	must.Match(t, got.MessageAttributes, want)
}

// streamSample is a record in the shape of the Lambda developer guide's example, with the time of
// creation and the identity that a removal by TTL carries.
const streamSample = `{
  "eventID": "f07f8ca4b0b26cb9c4e5e77e69f274ee",
  "eventName": "REMOVE",
  "eventVersion": "1.1",
  "eventSource": "aws:dynamodb",
  "awsRegion": "us-west-2",
  "userIdentity": {"type": "Service", "principalId": "dynamodb.amazonaws.com"},
  "dynamodb": {
    "ApproximateCreationDateTime": 1480642020,
    "Keys": {"Id": {"N": "101"}},
    "NewImage": {"Id": {"N": "101"}, "Message": {"S": "This item has changed"}},
    "OldImage": {"Id": {"N": "101"}, "Message": {"S": "New item!"}},
    "SequenceNumber": "1405400000000002063282832",
    "SizeBytes": 59,
    "StreamViewType": "NEW_AND_OLD_IMAGES"
  },
  "eventSourceARN": "arn:aws:dynamodb:us-west-2:123456789012:table/T/stream/2016-12-01T00:00:00.000"
}`

func TestStreamRecordIsLambdas(t *testing.T) {
	image := func(message string) map[string]streams.AttributeValue {
		return map[string]streams.AttributeValue{"Id": &streams.AttributeValueMemberN{Value: "101"},
			"Message": &streams.AttributeValueMemberS{Value: message}}
	}
	r := streams.Record{
		EventID: aws.String("f07f8ca4b0b26cb9c4e5e77e69f274ee"), EventName: streams.OperationTypeRemove, EventVersion: aws.String("1.1"),
		UserIdentity: &streams.Identity{Type: aws.String("Service"), PrincipalId: aws.String("dynamodb.amazonaws.com")},
		Dynamodb: &streams.StreamRecord{
			ApproximateCreationDateTime: aws.Time(time.Unix(1480642020, 999)),
			Keys:                        map[string]streams.AttributeValue{"Id": &streams.AttributeValueMemberN{Value: "101"}},
			NewImage:                    image("This item has changed"), OldImage: image("New item!"),
			SequenceNumber: aws.String("1405400000000002063282832"),
			SizeBytes:      aws.Int64(59), StreamViewType: streams.StreamViewTypeNewAndOldImages,
		},
	}
	golden(t, appendChange(nil, r, "arn:aws:dynamodb:us-west-2:123456789012:table/T/stream/2016-12-01T00:00:00.000"), streamSample)
}

func TestImageOfEveryType(t *testing.T) {
	image := map[string]streams.AttributeValue{
		"b": &streams.AttributeValueMemberB{Value: []byte{1, 2}}, "bool": &streams.AttributeValueMemberBOOL{Value: true},
		"bs": &streams.AttributeValueMemberBS{Value: [][]byte{{1}, {}}},
		"l": &streams.AttributeValueMemberL{Value: []streams.AttributeValue{&streams.AttributeValueMemberN{Value: "1"},
			&streams.AttributeValueMemberL{}}},
		"m":  &streams.AttributeValueMemberM{Value: map[string]streams.AttributeValue{"x": &streams.AttributeValueMemberNULL{Value: true}}},
		"n":  &streams.AttributeValueMemberN{Value: "123.45"},
		"ns": &streams.AttributeValueMemberNS{Value: []string{"1", "2"}}, "s": &streams.AttributeValueMemberS{Value: "{\"a\":1}"},
		"ss":      &streams.AttributeValueMemberSS{Value: []string{"a", "\""}},
		"unknown": &streams.UnknownUnionMember{Tag: "X"},
	}
	golden(t, appendImage(nil, image),
		`{"b":{"B":"AQI="},"bool":{"BOOL":true},"bs":{"BS":["AQ==",""]},"l":{"L":[{"N":"1"},{"L":[]}]},"m":{"M":{"x":{"NULL":true}}},
		"n":{"N":"123.45"},"ns":{"NS":["1","2"]},"s":{"S":"{\"a\":1}"},"ss":{"SS":["a","\""]},"unknown":{}}`)
}

// golden compares byte by byte, but ignores white space outside strings in want.
func golden(t *testing.T, got []byte, want string) {
	t.Helper()
	var compact bytes.Buffer
	must.Succeed(t, json.Compact(&compact, []byte(want)))
	must.Equal(t, string(got), compact.String(), got)
}

func TestStringsAreWhatTheDecoderReads(t *testing.T) {
	var all strings.Builder
	for r := range rune(0x3000) {
		all.WriteRune(r)
	}
	all.WriteString("\U0001F600 <script>&amp;")
	for _, s := range []string{"", "plain", all.String()} {
		var back string
		if err := json.Unmarshal(appendString(nil, s), &back); err != nil || back != s {
			t.Errorf("%.40q comes back as %.40q, %v", s, back, err)
		}
	}
	var back string
	if err := json.Unmarshal(appendText([]byte("{"), "a\xff", "b\xfe")[len("{\"a\uFFFD\":"):], &back); err != nil || back != "b\uFFFD" {
		t.Errorf("invalid text comes back as %q, %v", back, err)
	}
}

func TestFitKeepsEventsUnderSixMegabytes(t *testing.T) {
	record := bytes.Repeat([]byte("x"), 1<<20)
	var records [][]byte
	for range 7 {
		records = append(records, record)
	}
	must.Equal(t, fit(records, 0), 5)
	huge := bytes.Repeat(record, 7)
	must.Equal(t, fit([][]byte{huge, record}, 0), 1)
	exact := bytes.Repeat([]byte("x"), maxEvent-len(`{"Records":[]}`)-2-len(record))
	must.Equal(t, fit([][]byte{record, exact}, 0), 2)
	must.Equal(t, fit([][]byte{record, exact}, 1), 1)
	must.Equal(t, fit(nil, 0), 0)
}
