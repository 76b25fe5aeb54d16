package esm

import (
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// appendChange appends one record of a DynamoDB event (Lambda developer guide, "Using Lambda with
// DynamoDB"). The names differ from those of the Streams API: Lambda writes the members of
// userIdentity in lower case.
func appendChange(dst []byte, r types.Record, arn string) []byte {
	dst = append(dst, '{')
	dst = appendText(dst, "eventID", aws.ToString(r.EventID))
	dst = appendText(dst, "eventName", string(r.EventName))
	dst = appendText(dst, "eventVersion", aws.ToString(r.EventVersion))
	dst = appendText(dst, "eventSource", "aws:dynamodb")
	dst = appendText(dst, "awsRegion", region(arn))
	if u := r.UserIdentity; u != nil {
		dst = append(appendMember(dst, "userIdentity"), '{')
		dst = appendText(dst, "type", aws.ToString(u.Type))
		dst = appendText(dst, "principalId", aws.ToString(u.PrincipalId))
		dst = append(dst, '}')
	}
	if r.Dynamodb != nil {
		dst = appendStreamRecord(appendMember(dst, "dynamodb"), r.Dynamodb)
	}
	dst = appendText(dst, "eventSourceARN", arn)
	return append(dst, '}')
}

func appendStreamRecord(dst []byte, r *types.StreamRecord) []byte {
	dst = append(dst, '{')
	if r.ApproximateCreationDateTime != nil {
		dst = strconv.AppendInt(appendMember(dst, "ApproximateCreationDateTime"), r.ApproximateCreationDateTime.Unix(), 10)
	}
	dst = appendImage(appendMember(dst, "Keys"), r.Keys)
	if r.NewImage != nil {
		dst = appendImage(appendMember(dst, "NewImage"), r.NewImage)
	}
	if r.OldImage != nil {
		dst = appendImage(appendMember(dst, "OldImage"), r.OldImage)
	}
	dst = appendText(dst, "SequenceNumber", aws.ToString(r.SequenceNumber))
	dst = strconv.AppendInt(appendMember(dst, "SizeBytes"), aws.ToInt64(r.SizeBytes), 10)
	dst = appendText(dst, "StreamViewType", string(r.StreamViewType))
	return append(dst, '}')
}
