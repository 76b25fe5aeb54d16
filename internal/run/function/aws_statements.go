//go:build !ingotlocal

package function

import (
	"bytes"
	"context"
	"encoding/base64"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// statementBodies is the protocol of a DynamoDB client. It writes the body of a batch of statements
// into a buffer of the right size. Nearly all requests of both functions are such batches. The
// SDK's own buffer grows with the body, which is copied at the end, so the SDK allocates more than
// five bytes for each byte of the body. All other requests are left to the SDK.
type statementBodies struct{ smithyhttp.ClientProtocol }

// SerializeRequest makes the request as the SDK does.
func (p statementBodies) SerializeRequest(ctx context.Context, operation *smithy.OperationSchema, in smithy.Serializable,
	request *smithyhttp.Request) error {
	batch, ok := in.(*dynamodb.BatchExecuteStatementInput)
	if !ok || batch.ReturnConsumedCapacity != "" {
		return p.ClientProtocol.SerializeRequest(ctx, operation, in, request)
	}
	body, ok := appendStatements(make([]byte, 0, bodySize(batch.Statements)), batch.Statements)
	if !ok {
		return p.ClientProtocol.SerializeRequest(ctx, operation, in, request)
	}
	// The SDK sets method, path and header, for a request without statements.
	if err := p.ClientProtocol.SerializeRequest(ctx, operation, &dynamodb.BatchExecuteStatementInput{}, request); err != nil {
		return err
	}
	with, err := request.SetStream(bytes.NewReader(body))
	if err != nil {
		return err
	}
	*request = *with
	return nil
}

// bodySize returns the size of the buffer for the body of the statements. The body is larger only
// if there are control characters or invalid UTF-8 in it. Then the buffer grows.
func bodySize(statements []types.BatchStatementRequest) int {
	size := len(`{"Statements":[]}`)
	for i := range statements {
		s := &statements[i]
		size += len(`{"Parameters":[],"ReturnValuesOnConditionCheckFailure":"ALL_OLD","Statement":},`) +
			quotedSize(aws.ToString(s.Statement))
		for _, p := range s.Parameters {
			size += valueSize(p)
		}
	}
	return size
}

func quotedSize(s string) int {
	return len(`"",`) + len(s) + strings.Count(s, `"`) + strings.Count(s, `\`)
}

func valueSize(v types.AttributeValue) int {
	const around = len(`{"BOOL":},`)
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return around + quotedSize(v.Value)
	case *types.AttributeValueMemberN:
		return around + quotedSize(v.Value)
	case *types.AttributeValueMemberB:
		return around + len(`""`) + base64.StdEncoding.EncodedLen(len(v.Value))
	case *types.AttributeValueMemberM:
		size := around
		for name, entry := range v.Value {
			size += quotedSize(name) + valueSize(entry)
		}
		return size
	}
	return around + len("false")
}

// appendStatements appends the body. It returns false if a value is of a type that Ingot does not
// store.
func appendStatements(b []byte, statements []types.BatchStatementRequest) ([]byte, bool) {
	b = append(b, `{"Statements":[`...)
	for i := range statements {
		s := &statements[i]
		if s.ConsistentRead != nil || len(s.Parameters) == 0 || s.Statement == nil {
			return nil, false
		}
		b = append(b, `{"Parameters":[`...)
		for _, v := range s.Parameters {
			var ok bool
			if b, ok = appendValue(b, v); !ok {
				return nil, false
			}
			b = append(b, ',')
		}
		b[len(b)-1] = ']'
		if s.ReturnValuesOnConditionCheckFailure != "" {
			b = appendQuoted(append(b, `,"ReturnValuesOnConditionCheckFailure":`...), string(s.ReturnValuesOnConditionCheckFailure))
		}
		b = append(appendQuoted(append(b, `,"Statement":`...), *s.Statement), "},"...)
	}
	b[len(b)-1] = ']'
	return append(b, '}'), true
}

func appendValue(b []byte, v types.AttributeValue) ([]byte, bool) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		b = appendQuoted(append(b, `{"S":`...), v.Value)
	case *types.AttributeValueMemberN:
		b = appendQuoted(append(b, `{"N":`...), v.Value)
	case *types.AttributeValueMemberB:
		b = append(base64.StdEncoding.AppendEncode(append(b, `{"B":"`...), v.Value), '"')
	case *types.AttributeValueMemberBOOL:
		b = strconv.AppendBool(append(b, `{"BOOL":`...), v.Value)
	case *types.AttributeValueMemberM:
		b = append(b, `{"M":{`...)
		for name, entry := range v.Value {
			var ok bool
			if b, ok = appendValue(append(appendQuoted(b, name), ':'), entry); !ok {
				return nil, false
			}
			b = append(b, ',')
		}
		b = append(bytes.TrimSuffix(b, []byte(",")), '}')
	default:
		return nil, false
	}
	return append(b, '}'), true
}

// appendQuoted appends a text as JSON. As in the SDK, a byte that is not UTF-8 becomes U+FFFD.
func appendQuoted(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	from := 0 // everything before this index is written
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < 0x7f && c != '"' && c != '\\' {
			i++
			continue
		}
		r, size := rune(c), 1
		if c >= utf8.RuneSelf {
			if r, size = utf8.DecodeRuneInString(s[i:]); size > 1 && r != '\u2028' && r != '\u2029' {
				i += size
				continue
			}
		}
		b = append(b, s[from:i]...)
		switch r {
		case '"', '\\':
			b = append(b, '\\', c)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		case utf8.RuneError:
			b = append(b, "\ufffd"...)
		default: // a control character, DEL, U+2028 or U+2029
			b = append(b, '\\', 'u', hex[r>>12&0xf], hex[r>>8&0xf], hex[r>>4&0xf], hex[r&0xf])
		}
		i += size
		from = i
	}
	return append(append(b, s[from:]...), '"')
}
