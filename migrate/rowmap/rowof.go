package rowmap

import (
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/keys"
)

// GoesBack reports whether the old table follows the new one after a turn.
func (m *Mapping) GoesBack() bool { return len(m.back) > 0 }

// HasRow reports whether events of a type go back to rows.
func (m *Mapping) HasRow(eventType string) bool { return m.back[eventType] != nil }

// errNoKey says that an event has no row: a key attribute cannot be made.
var errNoKey = errors.New("back makes no key for its row")

// RowOf returns what the event of an item sets in its row, key attributes among it. An attribute
// that is nil is removed. kinds are those of the key attributes, as far as they are known.
func (m *Mapping) RowOf(item *event.Item, keyNames []string, kinds []types.ScalarAttributeType) (Row, error) {
	doc, err := event.ParseDocument(item.Data)
	if err != nil {
		return nil, err
	}
	row := Row{}
	source := keys.Source{Data: doc.Root(), Type: item.Type, ID: item.ID, At: item.At, HasAt: true}
	for _, member := range m.back[item.Type] {
		if member.path.IsZero() {
			text, err := member.template.Plain(&source)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", member.name, err)
			}
			row[member.name] = rows.Text(text)
			continue
		}
		v, err := attributeOf(doc.Root().At(member.path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", member.name, err)
		}
		row[member.name] = v
	}
	for i, name := range keyNames {
		if i < len(kinds) {
			row[name] = keyOfKind(row[name], kinds[i])
		}
		if row[name] == nil {
			return nil, errNoKey
		}
	}
	return row, nil
}

// attributeOf converts a value of a payload. It is nil if there is none.
func attributeOf(n event.Node) (types.AttributeValue, error) {
	switch n.Kind() {
	case event.String:
		return rows.Text(n.Text()), nil
	case event.Number:
		if _, err := n.Decimal(); err != nil {
			return nil, err
		}
		return rows.Number(n.Raw()), nil
	case event.Null:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case event.Array:
		list := &types.AttributeValueMemberL{}
		for e := range n.Elements() {
			v, err := attributeOf(e)
			if err != nil {
				return nil, err
			}
			list.Value = append(list.Value, v)
		}
		return list, nil
	case event.Object:
		object := &types.AttributeValueMemberM{Value: Row{}}
		for name, e := range n.Members() {
			v, err := attributeOf(e)
			if err != nil {
				return nil, err
			}
			object.Value[name] = v
		}
		return object, nil
	}
	if !n.Exists() {
		return nil, nil
	}
	return &types.AttributeValueMemberBOOL{Value: n.Raw() == "true"}, nil
}

// keyOfKind gives a key attribute the kind that the table has for it. It is nil if the value cannot
// be of that kind.
func keyOfKind(v types.AttributeValue, kind types.ScalarAttributeType) types.AttributeValue {
	text := rows.TextOf(v)
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		text = n.Value
	}
	switch {
	case text == "":
		return nil
	case kind == types.ScalarAttributeTypeN:
		if _, err := event.ParseDecimal(text); err != nil {
			return nil
		}
		return rows.Number(text)
	case kind == types.ScalarAttributeTypeB:
		b, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil
		}
		return &types.AttributeValueMemberB{Value: b}
	}
	return rows.Text(text)
}

// Like gives a list or a text the kind of set, or of binary, that the attribute has now, so that
// going back does not change what an application reads.
func Like(v, was types.AttributeValue) types.AttributeValue {
	list, _ := v.(*types.AttributeValueMemberL)
	texts := make([]string, 0, 8)
	if list != nil {
		for _, e := range list.Value {
			if n, ok := e.(*types.AttributeValueMemberN); ok {
				texts = append(texts, rowNumber(n.Value))
			} else {
				texts = append(texts, rows.TextOf(e))
			}
		}
	}
	alike := v
	switch was.(type) {
	case *types.AttributeValueMemberSS:
		alike = &types.AttributeValueMemberSS{Value: texts}
	case *types.AttributeValueMemberNS:
		alike = &types.AttributeValueMemberNS{Value: texts}
	case *types.AttributeValueMemberB:
		if b, err := base64.StdEncoding.DecodeString(rows.TextOf(v)); err == nil {
			alike = &types.AttributeValueMemberB{Value: b}
		}
	}
	distinct := len(slices.Compact(slices.Sorted(slices.Values(texts)))) // a set has each once, in an order of its own, and is not empty
	if v == nil || list != nil && (len(texts) == 0 || distinct < len(texts)) || !SameValue(alike, v) {
		return v
	}
	return alike
}

// rowNumber returns the one text that all spellings of a number have.
func rowNumber(text string) string {
	if n, err := event.ParseDecimal(text); err == nil {
		return n.String()
	}
	return text
}

// Holds reports whether a row has all attributes of another one, each of the same kind. The values
// are not compared.
func Holds(row, other Row) bool {
	for name, v := range other {
		if name != itemform.Migrated && !sameKind(row[name], v) {
			return false
		}
	}
	return true
}

func sameKind(a, b types.AttributeValue) bool {
	if reflect.TypeOf(a) != reflect.TypeOf(b) {
		return false
	}
	switch b := b.(type) {
	case *types.AttributeValueMemberM:
		return Holds(a.(*types.AttributeValueMemberM).Value, b.Value)
	case *types.AttributeValueMemberL:
		list := a.(*types.AttributeValueMemberL).Value
		for i, v := range b.Value {
			if i >= len(list) || !sameKind(list[i], v) {
				return false
			}
		}
	}
	return true
}

// SameValue reports whether two attributes say the same, as JSON, and numbers by their value.
func SameValue(a, b types.AttributeValue) bool {
	canonical := func(v types.AttributeValue) string {
		text, err := appendValue(nil, v)
		if err != nil {
			return ""
		}
		doc, err := event.ParseDocument(string(text))
		if err != nil {
			return string(text)
		}
		return string(keys.Canonical(nil, doc.Root(), nil))
	}
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return canonical(a) == canonical(b)
}

// Makes reports whether a row becomes this event and nothing else.
func (m *Mapping) Makes(row Row, item *event.Item) bool {
	to := m.Map(row)
	return len(to.Items) == 1 && to.Items[0].Key == item.Key && to.Type == item.Type && to.Items[0].Digest == item.Digest
}
