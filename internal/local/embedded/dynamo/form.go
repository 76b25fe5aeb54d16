package dynamo

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// This file checks the form of a request before anything else looks at it: the names of tables, and
// the members that have one of a few words as their value. It finds these members by their types,
// at any depth.

// operation returns the operation of that name, whose requests have their form checked.
func operation(name, fields string) api.Operation {
	return api.Op("DynamoDB", name, fields).Checked(func(in any) error { return checkForm(name, in) })
}

// fault is one thing that is wrong with the form of a request.
type fault struct {
	path  string // such as transactItems.1.member.put.tableName
	value string // in quotes, or null
	want  string
}

// finder returns what is wrong with a value.
type finder func(reflect.Value) []fault

var finders sync.Map // reflect.Type -> finder

// checkForm returns the ValidationException for everything that is wrong with the form of a
// request. The service names a wrong table alone. Of an UpdateItem, it names only the first thing:
// https://github.com/nubo-db/dynamodb-conformance/tree/main/tests/tier3/validation-ordering
func checkForm(name string, in any) error {
	v := reflect.ValueOf(in).Elem()
	find, ok := finders.Load(v.Type())
	if !ok {
		find, _ = finders.LoadOrStore(v.Type(), finderOf(v.Type()))
	}
	if find.(finder) == nil {
		return nil
	}
	faults := find.(finder)(v)
	if len(faults) == 0 {
		return nil
	}
	_, update := in.(*dynamodb.UpdateItemInput)
	table := slices.IndexFunc(faults, func(f fault) bool { return strings.HasSuffix(strings.ToLower(f.path), "tablename") })
	switch {
	case table >= 0 && strings.HasPrefix(faults[table].value, "'arn:"):
		return api.Unsupported(name, "a TableName that is an ARN")
	case table >= 0 && faults[table].value == "null" && strings.HasSuffix(name, "Table"):
		return api.Invalid("The parameter 'TableName' is required but was not present in the request")
	case table >= 0:
		faults = faults[table : table+1]
	case update:
		faults = faults[:1]
	}
	texts := make([]string, len(faults))
	for i, f := range faults {
		texts[i] = fmt.Sprintf("Value %s at '%s' failed to satisfy constraint: %s", f.value, f.path, f.want)
	}
	plural := ""
	if len(texts) > 1 {
		plural = "s"
	}
	return api.Invalid("%d validation error%s detected: %s", len(texts), plural, strings.Join(texts, "; "))
}

// finderOf returns nil if values of the type cannot have a wrong form.
func finderOf(t reflect.Type) finder {
	switch {
	case t.Kind() == reflect.Pointer:
		return inside(t, func(v reflect.Value, find finder) []fault {
			if v.IsNil() {
				return nil
			}
			return find(v.Elem())
		})
	case t.Kind() == reflect.Slice:
		return inside(t, func(v reflect.Value, find finder) (all []fault) {
			for i := range v.Len() {
				all = append(all, below(strconv.Itoa(i+1)+".member", find(v.Index(i)))...)
			}
			return all
		})
	case t == reflect.TypeFor[map[string]types.KeysAndAttributes]() || t == reflect.TypeFor[map[string][]types.WriteRequest]():
		return tableKeys
	case t.Kind() == reflect.Struct:
		return structFinder(t)
	case t.Kind() == reflect.String:
		return wordFinder(t)
	}
	return nil
}

func inside(t reflect.Type, each func(reflect.Value, finder) []fault) finder {
	find := finderOf(t.Elem())
	if find == nil {
		return nil
	}
	return func(v reflect.Value) []fault { return each(v, find) }
}

// below puts a name before the paths of faults.
func below(name string, faults []fault) []fault {
	for i, f := range faults {
		faults[i].path = strings.TrimSuffix(name+"."+f.path, ".")
	}
	return faults
}

func structFinder(t reflect.Type) finder {
	type member struct {
		index int
		name  string
		find  finder
	}
	var members []member
	for i := range t.NumField() {
		f := t.Field(i)
		find := finder(nil)
		switch {
		case !f.IsExported():
		case f.Name == "TableName":
			find = tableName
		case t == reflect.TypeFor[types.GlobalSecondaryIndex]() && f.Name == "IndexName":
			find = tableName // the same rules
		default:
			find = finderOf(f.Type)
		}
		if find != nil {
			first, size := utf8.DecodeRuneInString(f.Name)
			members = append(members, member{i, string(unicode.ToLower(first)) + f.Name[size:], find})
		}
	}
	if members == nil {
		return nil
	}
	return func(v reflect.Value) (all []fault) {
		for _, m := range members {
			if faults := m.find(v.Field(m.index)); faults != nil {
				all = append(all, below(m.name, faults)...)
			}
		}
		return all
	}
}

// orders has the order in which the service lists some of the words, where it is not that of the
// SDK.
var orders = map[reflect.Type]string{
	reflect.TypeFor[types.ReturnValue]():                         "ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW",
	reflect.TypeFor[types.ReturnConsumedCapacity]():              "INDEXES, TOTAL, NONE",
	reflect.TypeFor[types.ScalarAttributeType]():                 "B, N, S",
	reflect.TypeFor[types.ReturnValuesOnConditionCheckFailure](): "ALL_OLD, NONE",
}

// wordFinder is for the types of the SDK that list their values. An empty text is no value at all.
func wordFinder(t reflect.Type) finder {
	list, ok := t.MethodByName("Values")
	if !ok {
		return nil
	}
	values := list.Func.Call([]reflect.Value{reflect.Zero(t)})[0]
	known := make([]string, values.Len())
	for i := range known {
		known[i] = values.Index(i).String()
	}
	order := orders[t]
	if order == "" {
		order = strings.Join(known, ", ")
	}
	return func(v reflect.Value) []fault {
		if text := v.String(); text != "" && !slices.Contains(known, text) {
			return []fault{{value: "'" + text + "'", want: "Member must satisfy enum value set: [" + order + "]"}}
		}
		return nil
	}
}

// tableName looks at a *string.
func tableName(v reflect.Value) []fault {
	if v.IsNil() {
		return []fault{{value: "null", want: "Member must not be null"}}
	}
	name := v.Elem().String()
	if want := value.WrongTable(name); want != "" {
		return []fault{{value: "'" + name + "'", want: want}}
	}
	return nil
}

// tableKeys looks at the names of a map's tables.
func tableKeys(v reflect.Value) []fault {
	for _, key := range v.MapKeys() {
		if want := value.WrongTable(key.String()); want != "" {
			return []fault{{path: "tableName", value: "'" + key.String() + "'", want: want}}
		}
	}
	return nil
}
