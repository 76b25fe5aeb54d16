package dynamo

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// key is the key of a base table.
type key struct{ pk, sk string }

// key reads the Key of a request, which must hold the key attributes and nothing else.
func (t *table) key(in map[string]types.AttributeValue) (key, error) {
	names := t.schema.names()
	if len(in) != len(names) {
		return key{}, value.Misfits("The provided key element does not match the schema")
	}
	var texts [2]string
	for i, name := range names {
		s, ok := in[name].(*types.AttributeValueMemberS)
		if !ok {
			return key{}, value.Misfits("The provided key element does not match the schema")
		}
		if err := value.CheckKey(name, s.Value, i == 0); err != nil {
			return key{}, err
		}
		texts[i] = s.Value
	}
	return key{texts[0], texts[1]}, nil
}

func (t *table) keyMap(it *value.Item) map[string]types.AttributeValue {
	return it.Project(t.schema.names())
}

// identify sets the key of an item from its attributes. It also makes every check that DynamoDB
// makes before it stores an item.
func (t *table) identify(it *value.Item) error {
	var texts [2]string
	for i, name := range t.schema.names() {
		v := it.Get(name)
		if v == nil {
			return value.Misfits("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		s, ok := v.(*types.AttributeValueMemberS)
		if !ok {
			return value.Misfits("One or more parameter values were invalid: Type mismatch for key %s expected: S actual: %s", name,
				value.TypeName(v))
		}
		if err := value.CheckKey(name, s.Value, i == 0); err != nil {
			return err
		}
		texts[i] = s.Value
	}
	it.PK, it.SK = texts[0], texts[1]
	return t.checkIndexKeys(it)
}

// emptyIndexKey is an error about an empty index key. Like any other empty key, it is refused
// before a transaction begins.
type emptyIndexKey struct{ error }

func (x emptyIndexKey) Unwrap() error { return x.error }

// checkIndexKeys checks the index keys of an item. A key may be absent, because the index is
// sparse. It must not have another type, be empty or be too long.
func (t *table) checkIndexKeys(it *value.Item) error {
	for _, ix := range t.indexes {
		for i, name := range ix.schema.names() {
			v := it.Get(name)
			if v == nil {
				continue
			}
			if _, ok := v.(*types.AttributeValueMemberN); ok && ix.schema.number && i == 1 {
				continue
			}
			s, ok := v.(*types.AttributeValueMemberS)
			if ok && ix.schema.number && i == 1 {
				return value.Misfits(
					"One or more parameter values were invalid: Type mismatch for Index Key %s Expected: N Actual: S IndexName: %s",
					name, ix.name)
			}
			if !ok {
				return value.Misfits(
					"One or more parameter values were invalid: Type mismatch for Index Key %s Expected: S Actual: %s IndexName: %s", name,
					value.TypeName(v), ix.name)
			}
			if s.Value == "" {
				return emptyIndexKey{api.Invalid("One or more parameter values are not valid. A value specified for a secondary index "+
					"key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: %s, "+
					"IndexKey: %s", ix.name, name)}
			}
			if err := value.CheckKey(name, s.Value, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}
