package embedded

import (
	"bytes"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// DynamoDB's limits, in bytes.
const (
	maxItemSize         = 400 * 1024
	maxPartitionKeySize = 2048
	maxSortKeySize      = 1024
)

type attribute struct {
	name  string
	value types.AttributeValue // never changed once stored
}

// item is a stored item. It is immutable: a write replaces it. Attributes are sorted by name, which makes
// answers deterministic and comparison cheap.
type item struct {
	pk, sk string
	size   int // by DynamoDB's rules: names and values
	attrs  []attribute
}

// newItem copies a request's attributes. The key is not looked at.
func newItem(in map[string]types.AttributeValue) (*item, error) {
	it := &item{attrs: make([]attribute, 0, len(in))}
	for name, v := range in {
		stored, err := copyValue(v)
		if err != nil {
			return nil, err
		}
		it.attrs = append(it.attrs, attribute{name, stored})
	}
	slices.SortFunc(it.attrs, func(a, b attribute) int { return strings.Compare(a.name, b.name) })
	it.measure()
	return it, nil
}

func (it *item) measure() {
	it.size = 0
	for _, a := range it.attrs {
		it.size += len(a.name) + valueSize(a.value)
	}
}

func (it *item) find(name string) (int, bool) {
	for i := range it.attrs { // items have few attributes: a scan beats a binary search
		if it.attrs[i].name == name {
			return i, true
		}
	}
	return 0, false
}

// get returns nil for an absent attribute and for a nil item.
func (it *item) get(name string) types.AttributeValue {
	if it == nil {
		return nil
	}
	if i, ok := it.find(name); ok {
		return it.attrs[i].value
	}
	return nil
}

// text returns a string attribute; other types count as absent.
func (it *item) text(name string) (string, bool) {
	s, ok := it.get(name).(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// set and unset change an item under construction, before it is stored.
func (it *item) set(name string, v types.AttributeValue) {
	at, found := slices.BinarySearchFunc(it.attrs, name, func(a attribute, n string) int { return strings.Compare(a.name, n) })
	if found {
		it.attrs[at].value = v
		return
	}
	it.attrs = slices.Insert(it.attrs, at, attribute{name, v})
}

func (it *item) unset(name string) {
	if i, ok := it.find(name); ok {
		it.attrs = slices.Delete(it.attrs, i, i+1)
	}
}

// draft is a copy that may be changed; the values are shared.
func (it *item) draft() *item {
	attrs := make([]attribute, len(it.attrs), len(it.attrs)+2)
	copy(attrs, it.attrs)
	return &item{pk: it.pk, sk: it.sk, attrs: attrs}
}

func (it *item) asMap() map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	m := make(map[string]types.AttributeValue, len(it.attrs))
	for _, a := range it.attrs {
		m[a.name] = a.value
	}
	return m
}

// project returns the named attributes only; no names means all.
func (it *item) project(names []string) map[string]types.AttributeValue {
	if names == nil {
		return it.asMap()
	}
	m := make(map[string]types.AttributeValue, len(names))
	for _, name := range names {
		if v := it.get(name); v != nil {
			m[name] = v
		}
	}
	return m
}

func (it *item) equal(other *item) bool {
	return it.size == other.size && slices.EqualFunc(it.attrs, other.attrs, func(a, b attribute) bool {
		return a.name == b.name && equalValues(a.value, b.value)
	})
}

// copyValue copies, checks and normalises a value on its way into a table.
func copyValue(v types.AttributeValue) (types.AttributeValue, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return &types.AttributeValueMemberS{Value: v.Value}, nil
	case *types.AttributeValueMemberN:
		text, err := normalNumber(v.Value)
		return &types.AttributeValueMemberN{Value: text}, err
	case *types.AttributeValueMemberB:
		return &types.AttributeValueMemberB{Value: bytes.Clone(v.Value)}, nil
	case *types.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: v.Value}, nil
	case *types.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: v.Value}, nil
	case *types.AttributeValueMemberL, *types.AttributeValueMemberM:
		return copyDocument(v)
	case *types.AttributeValueMemberSS, *types.AttributeValueMemberNS, *types.AttributeValueMemberBS:
		return copySet(v)
	default:
		return nil, invalid("Supplied AttributeValue is empty, must contain exactly one of the supported datatypes")
	}
}

// typeName is the type's short name as messages print it.
func typeName(v types.AttributeValue) string {
	switch v.(type) {
	case *types.AttributeValueMemberS:
		return "S"
	case *types.AttributeValueMemberN:
		return "N"
	case *types.AttributeValueMemberB:
		return "B"
	case *types.AttributeValueMemberBOOL:
		return "BOOL"
	case *types.AttributeValueMemberNULL:
		return "NULL"
	case *types.AttributeValueMemberL:
		return "L"
	case *types.AttributeValueMemberM:
		return "M"
	case *types.AttributeValueMemberSS:
		return "SS"
	case *types.AttributeValueMemberNS:
		return "NS"
	case *types.AttributeValueMemberBS:
		return "BS"
	default:
		return "unknown"
	}
}

// valueSize follows the developer guide's "item sizes and formats": UTF-8 bytes, raw bytes, numberSize,
// 1 for BOOL and NULL, 3 plus 1 per element for lists and maps.
func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return numberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberBOOL, *types.AttributeValueMemberNULL:
		return 1
	default:
		return documentSize(v)
	}
}

// equalValues is DynamoDB's equality: same type, same value, numbers by value.
func equalValues(a, b types.AttributeValue) bool {
	switch a := a.(type) {
	case *types.AttributeValueMemberS:
		b, ok := b.(*types.AttributeValueMemberS)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberN:
		b, ok := b.(*types.AttributeValueMemberN)
		if !ok || a.Value == b.Value {
			return ok
		}
		x, _ := scanNumber(a.Value)
		y, _ := scanNumber(b.Value)
		return x == y
	case *types.AttributeValueMemberB:
		b, ok := b.(*types.AttributeValueMemberB)
		return ok && bytes.Equal(a.Value, b.Value)
	case *types.AttributeValueMemberBOOL:
		b, ok := b.(*types.AttributeValueMemberBOOL)
		return ok && a.Value == b.Value
	case *types.AttributeValueMemberNULL:
		_, ok := b.(*types.AttributeValueMemberNULL)
		return ok
	default:
		return equalDocuments(a, b)
	}
}
