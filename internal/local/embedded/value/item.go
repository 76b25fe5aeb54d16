package value

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// MaxItemSize is DynamoDB's limit, in bytes.
const MaxItemSize = 400 * 1024

// Attribute is one attribute of an item.
type Attribute struct {
	Name  string
	Value types.AttributeValue // never changes once it is stored
}

// Item is a stored item. It is immutable: a write replaces it. Attributes are sorted by name, which
// makes answers deterministic and comparison cheap. A packed item has no Attrs.
type Item struct {
	PK, SK string
	Size   int // by DynamoDB's rules: names and values
	Attrs  []Attribute
	packed string // instead of Attrs, for an item that a journal keeps; see Pack
}

// NewItem copies the attributes of a request. It does not look at the key.
func NewItem(in map[string]types.AttributeValue) (*Item, error) {
	it := &Item{Attrs: make([]Attribute, 0, len(in))}
	for name, v := range in {
		if err := checkName(name); err != nil {
			return nil, err
		}
		stored, err := Copy(v)
		if err != nil {
			return nil, err
		}
		it.Attrs = append(it.Attrs, Attribute{name, stored})
	}
	slices.SortFunc(it.Attrs, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	it.Measure()
	return it, nil
}

// Measure sets Size from the attributes.
func (it *Item) Measure() {
	it.Size = 0
	for _, a := range it.Attrs {
		it.Size += len(a.Name) + Size(a.Value)
	}
}

func (it *Item) find(name string) (int, bool) {
	for i := range it.Attrs { // items have few attributes, so a scan beats a binary search
		if it.Attrs[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// Get returns the value of an attribute. It returns nil for an absent attribute and for a nil item.
func (it *Item) Get(name string) types.AttributeValue {
	switch {
	case it == nil:
		return nil
	case it.packed != "":
		return it.packedValue(name)
	}
	if i, ok := it.find(name); ok {
		return it.Attrs[i].Value
	}
	return nil
}

// Text returns a string attribute. Other types count as absent.
func (it *Item) Text(name string) (string, bool) {
	s, ok := it.Get(name).(*types.AttributeValueMemberS)
	if !ok {
		return "", false
	}
	return s.Value, true
}

// Number returns a number attribute. Other types count as absent.
func (it *Item) Number(name string) (Number, bool) {
	n, ok := it.Get(name).(*types.AttributeValueMemberN)
	if !ok {
		return Number{}, false
	}
	return ScanNumber(n.Value)
}

// Set adds an attribute to an item under construction, or replaces it. It must not be used on a
// stored item.
func (it *Item) Set(name string, v types.AttributeValue) {
	at, found := slices.BinarySearchFunc(it.Attrs, name, func(a Attribute, n string) int { return strings.Compare(a.Name, n) })
	if found {
		it.Attrs[at].Value = v
		return
	}
	it.Attrs = slices.Insert(it.Attrs, at, Attribute{name, v})
}

// Unset removes an attribute from an item under construction.
func (it *Item) Unset(name string) {
	if i, ok := it.find(name); ok {
		it.Attrs = slices.Delete(it.Attrs, i, i+1)
	}
}

// Draft returns a copy that may be changed. The values are shared.
func (it *Item) Draft() *Item {
	from := it.attributes()
	attrs := make([]Attribute, len(from), len(from)+2)
	copy(attrs, from)
	return &Item{PK: it.PK, SK: it.SK, Attrs: attrs}
}

// Map returns a new map of all attributes, or nil for a nil item. The values are the stored ones.
func (it *Item) Map() map[string]types.AttributeValue {
	if it == nil {
		return nil
	}
	attrs := it.attributes()
	m := make(map[string]types.AttributeValue, len(attrs))
	for _, a := range attrs {
		m[a.Name] = a.Value
	}
	return m
}

// All returns all attributes, sorted by name. The caller must not change them.
func (it *Item) All() []Attribute { return it.attributes() }

// Project returns only the attributes in names. If names is empty, it returns all.
func (it *Item) Project(names []string) map[string]types.AttributeValue {
	if names == nil {
		return it.Map()
	}
	m := make(map[string]types.AttributeValue, len(names))
	for _, name := range names {
		if v := it.Get(name); v != nil {
			m[name] = v
		}
	}
	return m
}

// Equal reports whether two items have the same attributes by DynamoDB's equality.
func (it *Item) Equal(other *Item) bool {
	if it.packed != "" && it.packed == other.packed {
		return true
	}
	return it.Size == other.Size && slices.EqualFunc(it.attributes(), other.attributes(), func(a, b Attribute) bool {
		return a.Name == b.Name && Equal(a.Value, b.Value)
	})
}

// SizeOf returns the size of an item. It is 0 for a nil item.
func SizeOf(it *Item) int {
	if it == nil {
		return 0
	}
	return it.Size
}
