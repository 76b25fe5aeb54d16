package embedded

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// key is a base table key.
type key struct{ pk, sk string }

// key reads a request's Key, which must hold the key attributes and nothing else.
func (t *table) key(in map[string]types.AttributeValue) (key, error) {
	names := t.schema.names()
	if len(in) != len(names) {
		return key{}, misfits("The provided key element does not match the schema")
	}
	var texts [2]string
	for i, name := range names {
		s, ok := in[name].(*types.AttributeValueMemberS)
		if !ok {
			return key{}, misfits("The provided key element does not match the schema")
		}
		if err := checkKeyText(name, s.Value, i == 0); err != nil {
			return key{}, err
		}
		texts[i] = s.Value
	}
	return key{texts[0], texts[1]}, nil
}

func (t *table) keyMap(it *item) map[string]types.AttributeValue { return it.project(t.schema.names()) }

// identify sets the key of an item from its attributes and checks everything DynamoDB checks before it
// stores one.
func (t *table) identify(it *item) error {
	var texts [2]string
	for i, name := range t.schema.names() {
		v := it.get(name)
		if v == nil {
			return misfits("One or more parameter values were invalid: Missing the key %s in the item", name)
		}
		s, ok := v.(*types.AttributeValueMemberS)
		if !ok {
			return misfits("One or more parameter values were invalid: Type mismatch for key %s expected: S actual: %s", name, typeName(v))
		}
		if err := checkKeyText(name, s.Value, i == 0); err != nil {
			return err
		}
		texts[i] = s.Value
	}
	it.pk, it.sk = texts[0], texts[1]
	return t.checkIndexKeys(it)
}

func checkKeyText(name, s string, partition bool) error {
	switch {
	case s == "":
		return invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: %s", name)
	case partition && len(s) > maxPartitionKeySize:
		return misfits("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes")
	case !partition && len(s) > maxSortKeySize:
		return misfits("One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}

// checkIndexKeys: an index key may be absent (the index is sparse) but not of another type, empty or too long.
func (t *table) checkIndexKeys(it *item) error {
	for _, ix := range t.indexes {
		for i, name := range ix.schema.names() {
			v := it.get(name)
			if v == nil {
				continue
			}
			s, ok := v.(*types.AttributeValueMemberS)
			if !ok {
				return misfits("One or more parameter values were invalid: Type mismatch for Index Key %s Expected: S Actual: %s IndexName: %s", name, typeName(v), ix.name)
			}
			if s.Value == "" {
				return emptyIndexKey{invalid("One or more parameter values are not valid. A value specified for a secondary index key is not supported. The AttributeValue for a key attribute cannot contain an empty string value. IndexName: %s, IndexKey: %s", ix.name, name)}
			}
			if err := checkKeyText(name, s.Value, i == 0); err != nil {
				return err
			}
		}
	}
	return nil
}
