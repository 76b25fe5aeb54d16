package rowmap

import (
	"encoding/base64"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
)

// A row's name is its key as DynamoDB's typed JSON: {"user":{"S":"u1"},"at":{"N":"17"}}.

// KeyOf returns the key attributes of a row. keyNames are their names.
func KeyOf(row Row, keyNames []string) Row {
	key := make(Row, len(keyNames))
	for _, name := range keyNames {
		key[name] = row[name]
	}
	return key
}

// NameOf returns the name of a row.
func NameOf(row Row, keyNames []string) string {
	dst := []byte{'{'}
	for i, name := range keyNames {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, event.Quote(name)...), ':')
		switch v := row[name].(type) {
		case *types.AttributeValueMemberS:
			dst = append(append(append(dst, `{"S":`...), event.Quote(v.Value)...), '}')
		case *types.AttributeValueMemberN:
			dst = append(append(append(dst, `{"N":`...), event.Quote(rowNumber(v.Value))...), '}')
		case *types.AttributeValueMemberB:
			dst = append(append(append(dst, `{"B":`...), event.Quote(base64.StdEncoding.EncodeToString(v.Value))...), '}')
		default:
			dst = append(dst, "null"...)
		}
	}
	return string(append(dst, '}'))
}

// ParseName returns the key that a name says. It is nil if nobody but a person can have written it.
func ParseName(name string) Row {
	doc, err := event.ParseDocument(name)
	if err != nil {
		return nil
	}
	key := Row{}
	for attribute, value := range doc.Root().Members() {
		text := ""
		for kind, v := range value.Members() {
			switch text = v.Text(); kind {
			case "S":
				key[attribute] = &types.AttributeValueMemberS{Value: text}
			case "N":
				key[attribute] = &types.AttributeValueMemberN{Value: text}
			case "B":
				b, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return nil
				}
				key[attribute] = &types.AttributeValueMemberB{Value: b}
			}
		}
		if key[attribute] == nil {
			return nil
		}
	}
	return key
}
