package esm

import (
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

// encodeMessage returns one record of an SQS event (Lambda developer guide, "Using Lambda with
// Amazon SQS").
func encodeMessage(m types.Message, arn string) []byte {
	dst := []byte{'{'}
	dst = appendText(dst, "messageId", aws.ToString(m.MessageId))
	dst = appendText(dst, "receiptHandle", aws.ToString(m.ReceiptHandle))
	dst = appendText(dst, "body", aws.ToString(m.Body))
	dst = append(appendMember(dst, "attributes"), '{')
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		dst = appendText(dst, name, m.Attributes[name])
	}
	dst = append(dst, '}')
	dst = append(appendMember(dst, "messageAttributes"), '{')
	for _, name := range slices.Sorted(maps.Keys(m.MessageAttributes)) {
		dst = appendMessageAttribute(appendMember(dst, name), m.MessageAttributes[name])
	}
	dst = append(dst, '}')
	if m.MD5OfMessageAttributes != nil {
		dst = appendText(dst, "md5OfMessageAttributes", *m.MD5OfMessageAttributes)
	}
	dst = appendText(dst, "md5OfBody", aws.ToString(m.MD5OfBody))
	dst = appendText(dst, "eventSource", "aws:sqs")
	dst = appendText(dst, "eventSourceARN", arn)
	dst = appendText(dst, "awsRegion", region(arn))
	return append(dst, '}')
}

// appendMessageAttribute appends an attribute: the value that it has, and two lists. Lambda always
// sends the lists, although SQS does not fill them.
func appendMessageAttribute(dst []byte, a types.MessageAttributeValue) []byte {
	dst = append(dst, '{')
	if a.StringValue != nil {
		dst = appendText(dst, "stringValue", *a.StringValue)
	}
	if a.BinaryValue != nil {
		dst = appendBytes(appendMember(dst, "binaryValue"), a.BinaryValue)
	}
	dst = appendList(appendMember(dst, "stringListValues"), a.StringListValues, func(dst []byte, s string) []byte {
		return appendString(dst, validText(s))
	})
	dst = appendList(appendMember(dst, "binaryListValues"), a.BinaryListValues, appendBytes)
	dst = appendText(dst, "dataType", aws.ToString(a.DataType))
	return append(dst, '}')
}
