package esm

import (
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// maxEvent is the largest event that Lambda sends, in bytes, metadata included.
const maxEvent = 6 << 20

const hexDigits = "0123456789abcdef"

// appendString appends s as a JSON string. It escapes only what must be escaped.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
	}
	return append(append(dst, s[start:]...), '"')
}

// validText returns s with every invalid byte replaced. The services never return such text, but
// the client of a test might.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// appendMember appends the name of a member and its colon, after a comma if one is needed.
func appendMember(dst []byte, name string) []byte {
	if last := dst[len(dst)-1]; last != '{' && last != '[' {
		dst = append(dst, ',')
	}
	return append(appendString(dst, validText(name)), ':')
}

func appendText(dst []byte, name, value string) []byte {
	return appendString(appendMember(dst, name), validText(value))
}

func appendBytes(dst []byte, b []byte) []byte {
	dst = append(dst, '"')
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendList appends a JSON array of the elements, each appended by one.
func appendList[E any](dst []byte, list []E, one func([]byte, E) []byte) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = one(dst, e)
	}
	return append(dst, ']')
}

// appendImage appends an item as DynamoDB's JSON, its attributes in byte order.
func appendImage(dst []byte, image map[string]types.AttributeValue) []byte {
	dst = append(dst, '{')
	names := slices.AppendSeq(make([]string, 0, len(image)), maps.Keys(image))
	slices.Sort(names)
	for _, name := range names {
		dst = appendValue(appendMember(dst, name), image[name])
	}
	return append(dst, '}')
}

func appendValue(dst []byte, v types.AttributeValue) []byte {
	text := func(dst []byte, s string) []byte { return appendString(dst, validText(s)) }
	dst = append(dst, '{')
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		dst = appendText(dst, "S", v.Value)
	case *types.AttributeValueMemberN:
		dst = appendText(dst, "N", v.Value)
	case *types.AttributeValueMemberB:
		dst = appendBytes(appendMember(dst, "B"), v.Value)
	case *types.AttributeValueMemberBOOL:
		dst = appendBool(appendMember(dst, "BOOL"), v.Value)
	case *types.AttributeValueMemberNULL:
		dst = appendBool(appendMember(dst, "NULL"), v.Value)
	case *types.AttributeValueMemberSS:
		dst = appendList(appendMember(dst, "SS"), v.Value, text)
	case *types.AttributeValueMemberNS:
		dst = appendList(appendMember(dst, "NS"), v.Value, text)
	case *types.AttributeValueMemberBS:
		dst = appendList(appendMember(dst, "BS"), v.Value, appendBytes)
	case *types.AttributeValueMemberL:
		dst = appendList(appendMember(dst, "L"), v.Value, appendValue)
	case *types.AttributeValueMemberM:
		dst = appendImage(appendMember(dst, "M"), v.Value)
	}
	// A type that this SDK does not know becomes {}. The function gets the record with it.
	return append(dst, '}')
}

func appendBool(dst []byte, b bool) []byte {
	if b {
		return append(dst, "true"...)
	}
	return append(dst, "false"...)
}

// region returns the region in an ARN, or an empty text.
func region(arn string) string {
	parts := strings.SplitN(arn, ":", 5)
	if len(parts) < 5 {
		return ""
	}
	return parts[3]
}

// openEvent returns an event with the encoded records, without the closing brace.
func openEvent(records [][]byte) []byte {
	size := len(`{"Records":[]}`)
	for _, r := range records {
		size += len(r) + 1
	}
	return appendList(append(make([]byte, 0, size), `{"Records":`...), records, func(dst, r []byte) []byte { return append(dst, r...) })
}

// fit returns how many of the encoded records fit into one event beside overhead bytes. It is at
// least 1 if there is a record. So a record that is too large on its own still reaches the
// function.
func fit(records [][]byte, overhead int) int {
	size := len(`{"Records":[]}`) + overhead
	for i, r := range records {
		size += len(r) + 1
		if size > maxEvent && i > 0 {
			return i
		}
	}
	return len(records)
}
