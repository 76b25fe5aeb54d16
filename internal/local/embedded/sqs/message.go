package sqs

import (
	"bytes"
	"crypto/md5"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// newMessage checks and copies what SendMessage carries.
func newMessage(body *string, attributes map[string]types.MessageAttributeValue, group, dedupID *string) (*message, error) {
	m := &message{body: aws.ToString(body), group: aws.ToString(group), dedupID: aws.ToString(dedupID), flight: -1}
	if m.body == "" {
		return nil, api.Error("MissingParameter", "The request must contain the parameter MessageBody.")
	}
	if !allowed(m.body) {
		return nil, &types.InvalidMessageContents{Message: aws.String(badCharacters)}
	}
	if len(attributes) > maxMessageAttributes {
		return nil, api.Error("InvalidParameterValue", "Number of message attributes [%d] exceeds the allowed maximum [%d].",
			len(attributes), maxMessageAttributes)
	}
	if err := errors.Join(checkID("MessageGroupId", group), checkID("MessageDeduplicationId", dedupID)); err != nil {
		return nil, err
	}
	m.size = len(m.body)
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a, err := copyAttribute(name, attributes[name])
		if err != nil {
			return nil, err
		}
		if m.attributes == nil {
			m.attributes = map[string]types.MessageAttributeValue{}
		}
		m.attributes[name] = a
		m.size += len(name) + len(*a.DataType) + len(aws.ToString(a.StringValue)) + len(a.BinaryValue)
	}
	if m.size > maxMessageSize {
		return nil, api.Error("InvalidParameterValue", "One or more parameters are invalid. Reason: Message must be shorter than %d bytes.",
			maxMessageSize)
	}
	sum := md5.Sum([]byte(m.body))
	m.bodyMD5 = hex.EncodeToString(sum[:])
	m.attributesMD5 = attributesMD5(m.attributes)
	return m, nil
}

// checkID checks the id of a group or of a duplicate.
func checkID(name string, id *string) error {
	if id == nil || *id != "" && len(*id) <= 128 && !strings.ContainsFunc(*id, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil
	}
	return api.Error("InvalidParameterValue",
		"Value %s for parameter %s is invalid. Reason: %s can only include alphanumeric and punctuation characters. 1 to 128 in length.",
		*id, name, name)
}

const badCharacters = "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | " +
	"#x10000 to #x10FFFF"

// allowed reports whether a body or the value of an attribute may have this text.
func allowed(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, forbidden)
}

// forbidden reports whether r is a character that XML 1.0, and therefore SQS, does not allow.
func forbidden(r rune) bool {
	return (r < 0x20 && r != '\t' && r != '\n' && r != '\r') || r == 0xFFFE || r == 0xFFFF
}

func copyAttribute(name string, a types.MessageAttributeValue) (types.MessageAttributeValue, error) {
	bad := func(why string) (types.MessageAttributeValue, error) {
		return types.MessageAttributeValue{}, api.Error("InvalidParameterValue", "The message attribute '%s' %s", name, why)
	}
	kind, _, _ := strings.Cut(aws.ToString(a.DataType), ".")
	switch lower := strings.ToLower(name); {
	case name == "" || len(name) > 256:
		return bad("has a name that is not 1 to 256 characters long.")
	case strings.Trim(name, nameCharacters+".") != "" || strings.Trim(name, ".") != name || strings.Contains(name, ".."):
		return bad("has an invalid name: it can contain letters, digits, underscores, hyphens and single periods, and does not begin or " +
			"end with a period.")
	case strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon."):
		return bad("has an invalid name: names that begin with AWS. or Amazon. are reserved.")
	case len(aws.ToString(a.DataType)) > 256:
		return bad("has a type that is more than 256 characters long.")
	case len(a.StringListValues) > 0 || len(a.BinaryListValues) > 0:
		return bad("uses a list, which is not implemented.")
	case kind == "Binary":
		if len(a.BinaryValue) == 0 {
			return bad("must contain a non-empty message attribute value of type 'Binary'.")
		}
		return types.MessageAttributeValue{DataType: aws.String(*a.DataType), BinaryValue: bytes.Clone(a.BinaryValue)}, nil
	case kind == "String" || kind == "Number":
		if aws.ToString(a.StringValue) == "" {
			return bad("must contain a non-empty message attribute value of type '" + kind + "'.")
		}
		if !allowed(*a.StringValue) {
			return types.MessageAttributeValue{}, api.Error("InvalidParameterValue", "%s", badCharacters)
		}
		if _, ok := value.ScanNumber(*a.StringValue); kind == "Number" && !ok {
			return bad("must contain a number.")
		}
		return types.MessageAttributeValue{DataType: aws.String(*a.DataType), StringValue: aws.String(*a.StringValue)}, nil
	}
	return bad("has an invalid message attribute type, the set of supported type prefixes is Binary, Number, and String.")
}

// attributesMD5 returns the digest that SQS makes. It goes over the attributes by name. Each name,
// type and value is preceded by its length. The value is also preceded by a byte that says whether
// it is a string (1) or binary (2). If there are no attributes, there is no digest.
func attributesMD5(attributes map[string]types.MessageAttributeValue) string {
	if len(attributes) == 0 {
		return ""
	}
	var buf []byte
	add := func(b []byte) {
		buf = binary.BigEndian.AppendUint32(buf, uint32(len(b)))
		buf = append(buf, b...)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		add([]byte(name))
		add([]byte(*a.DataType))
		if a.StringValue != nil {
			buf = append(buf, 1)
			add([]byte(*a.StringValue))
		} else {
			buf = append(buf, 2)
			add(a.BinaryValue)
		}
	}
	return fmt.Sprintf("%x", md5.Sum(buf))
}

// batchFailure reports one entry of a batch request.
func batchFailure(id *string, err error) types.BatchResultErrorEntry {
	var call smithy.APIError
	code := "InternalError"
	if errors.As(err, &call) {
		code = call.ErrorCode()
	}
	return types.BatchResultErrorEntry{Id: id, Code: aws.String(code), Message: aws.String(api.ErrorText(err)), SenderFault: true}
}
