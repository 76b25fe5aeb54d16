package esm

import (
	"crypto/sha256"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	queues "github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/store"
)

// FuzzRecord writes records of a queue and of a stream around any text and bytes. Lambda's own
// types must read back what was put in, and the store's reader must read the same item.
func FuzzRecord(f *testing.F) {
	corpus.Add(f)
	f.Add("{}", "a", "text", []byte{0, 255}, int64(1480642020))
	f.Add("line\n\"quoted\" \\ \x01 <é> \u2028\ufffe", "", "", []byte{}, int64(1))
	f.Add("\xff\xed\xa0\x80", "\xff", "\x00", []byte("x"), int64(1<<32-1))
	f.Fuzz(func(t *testing.T, body, name, value string, bytes []byte, created int64) {
		checkMessage(t, body, name, value, bytes)
		checkChangeRecord(t, body, value, bytes, created)
	})
}

func checkMessage(t *testing.T, body, name, value string, bytes []byte) {
	t.Helper()
	m := queues.Message{MessageId: aws.String("m"), Body: &body, Attributes: map[string]string{"MessageGroupId": value},
		MessageAttributes: map[string]queues.MessageAttributeValue{
			name: {DataType: aws.String("String"), StringValue: &value}, name + "b": {DataType: aws.String("Binary"), BinaryValue: bytes}}}
	payload := append(openEvent([][]byte{encodeMessage(m, "arn:aws:sqs:eu-west-1:1:q")}), '}')
	var e events.SQSEvent
	if err := json.Unmarshal(payload, &e); err != nil || len(e.Records) != 1 {
		t.Fatalf("%q: %v", payload, err)
	}
	r := e.Records[0]
	if r.Body != validText(body) || r.Attributes["MessageGroupId"] != validText(value) || r.AWSRegion != "eu-west-1" {
		t.Fatalf("%q comes back as %+v", body, r)
	}
	a, b := r.MessageAttributes[validText(name)], r.MessageAttributes[validText(name+"b")]
	if a.StringValue == nil || *a.StringValue != validText(value) || string(b.BinaryValue) != string(bytes) {
		t.Fatalf("attributes %q and %x come back as %+v", value, bytes, r.MessageAttributes)
	}
}

func checkChangeRecord(t *testing.T, text, key string, bytes []byte, created int64) {
	t.Helper()
	str := func(s string) streams.AttributeValue { return &streams.AttributeValueMemberS{Value: s} }
	digest := sha256.Sum256(bytes)
	image := map[string]streams.AttributeValue{
		"PK": str("p" + key), "SK": str("s"), "type": str("t"), "id": str(key), "at": str("2099-03-01T10:00:00Z"), "data": str("d" + text),
		"digest": &streams.AttributeValueMemberB{Value: digest[:]},
		"bytes":  &streams.AttributeValueMemberB{Value: bytes},
		"list": &streams.AttributeValueMemberL{Value: []streams.AttributeValue{str(text),
			&streams.AttributeValueMemberSS{Value: []string{text}}}},
	}
	created = max(1, min(created, 1<<32-1))
	r := streams.Record{EventName: streams.OperationTypeInsert,
		Dynamodb: &streams.StreamRecord{ApproximateCreationDateTime: aws.Time(time.Unix(created, 0)),
			Keys: map[string]streams.AttributeValue{"PK": image["PK"], "SK": image["SK"]}, NewImage: image,
			SequenceNumber: aws.String("000000000000000000007")}}
	raw := appendChange(nil, r, "arn:aws:dynamodb:eu-west-1:1:table/t/stream/1")
	var theirs events.DynamoDBEventRecord
	if err := json.Unmarshal(raw, &theirs); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	got := theirs.Change.NewImage
	if got["data"].String() != "d"+validText(text) || !reflect.DeepEqual(got["list"].List()[1].StringSet(), []string{validText(text)}) ||
		string(got["bytes"].Binary()) != string(bytes) {
		t.Fatalf("%q comes back as %v", text, got)
	}
	doc, err := event.ParseDocument(string(raw))
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	change, err := store.ReadRecord(doc.Root(), "shard")
	if err != nil || change.New == nil {
		t.Fatalf("%q: %v", raw, err)
	}
	if change.New.Key.PK != "p"+validText(key) || change.New.Data != "d"+validText(text) || change.New.ID != validText(key) ||
		change.Created.Unix() != created {
		t.Fatalf("%q at %d is read as %+v", text, created, change)
	}
	if change.New.Digest != [32]byte(image["digest"].(*streams.AttributeValueMemberB).Value) {
		t.Fatalf("digest %s", change.New.Digest)
	}
}
