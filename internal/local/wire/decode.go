package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// deepest is how many levels the JSON of a request may have. DynamoDB takes items of 32 levels, and
// each of these is two levels in JSON.
const deepest = 100

// unions holds the types of the SDK that can hold several kinds of value. For each, it has the
// types of the kinds by their names in JSON.
var unions = map[reflect.Type]map[string]reflect.Type{
	reflect.TypeFor[types.AttributeValue](): {
		"S":    reflect.TypeFor[types.AttributeValueMemberS](),
		"N":    reflect.TypeFor[types.AttributeValueMemberN](),
		"B":    reflect.TypeFor[types.AttributeValueMemberB](),
		"BOOL": reflect.TypeFor[types.AttributeValueMemberBOOL](),
		"NULL": reflect.TypeFor[types.AttributeValueMemberNULL](),
		"SS":   reflect.TypeFor[types.AttributeValueMemberSS](),
		"NS":   reflect.TypeFor[types.AttributeValueMemberNS](),
		"BS":   reflect.TypeFor[types.AttributeValueMemberBS](),
		"L":    reflect.TypeFor[types.AttributeValueMemberL](),
		"M":    reflect.TypeFor[types.AttributeValueMemberM](),
	},
}

// decode fills an input of the SDK from the body of a request in AWS JSON.
func decode(body []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var document any
	if err := d.Decode(&document); err == io.EOF {
		return nil // an empty body is an input without members
	} else if err != nil {
		return fmt.Errorf("the body is not JSON: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("the body has something after its JSON document, at byte %d", d.InputOffset())
	}
	return assign(document, reflect.ValueOf(into).Elem(), "the body", 0)
}

// assign stores one value of JSON in to. Errors call the value by the name where.
func assign(from any, to reflect.Value, where string, depth int) error {
	if depth > deepest {
		return fmt.Errorf("%s is nested more than %d levels deep", where, deepest)
	}
	if from == nil {
		return nil // null means the same as a missing member
	}
	switch to.Interface().(type) {
	case time.Time:
		return assignTime(from, to, where)
	case []byte:
		return assignBytes(from, to, where)
	}
	if members := unions[to.Type()]; members != nil {
		return assignUnion(from, to, members, where, depth)
	}
	switch to.Kind() {
	case reflect.Pointer:
		value := reflect.New(to.Type().Elem())
		if err := assign(from, value.Elem(), where, depth); err != nil {
			return err
		}
		to.Set(value)
		return nil
	case reflect.Struct:
		return assignStruct(from, to, where, depth)
	case reflect.Map:
		return assignMap(from, to, where, depth)
	case reflect.Slice:
		return assignList(from, to, where, depth)
	case reflect.String:
		text, ok := from.(string)
		if !ok {
			return mismatch(where, "a string", from)
		}
		to.SetString(text)
		return nil
	case reflect.Bool:
		yes, ok := from.(bool)
		if !ok {
			return mismatch(where, "true or false", from)
		}
		to.SetBool(yes)
		return nil
	default:
		return assignNumber(from, to, where)
	}
}

// present does what assign does, but refuses null.
func present(from any, to reflect.Value, where string, depth int) error {
	if from == nil {
		return fmt.Errorf("%s must have a value, not null", where)
	}
	return assign(from, to, where, depth)
}

func assignStruct(from any, to reflect.Value, where string, depth int) error {
	members, ok := from.(map[string]any)
	if !ok {
		return mismatch(where, "an object", from)
	}
	for name, member := range members {
		// Some members begin with a lower-case letter on the wire. No two members of a type differ
		// only in that.
		field := to.FieldByName(upper(name))
		if !field.IsValid() || !field.CanSet() {
			return fmt.Errorf("%s has a member %q, which this version of the AWS SDK does not know", where, name)
		}
		if err := assign(member, field, name, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func assignMap(from any, to reflect.Value, where string, depth int) error {
	members, ok := from.(map[string]any)
	if !ok {
		return mismatch(where, "an object", from)
	}
	to.Set(reflect.MakeMapWithSize(to.Type(), len(members)))
	for name, member := range members {
		value := reflect.New(to.Type().Elem()).Elem()
		if err := present(member, value, where+"."+name, depth+1); err != nil {
			return err
		}
		to.SetMapIndex(reflect.ValueOf(name).Convert(to.Type().Key()), value)
	}
	return nil
}

func assignList(from any, to reflect.Value, where string, depth int) error {
	list, ok := from.([]any)
	if !ok {
		return mismatch(where, "an array", from)
	}
	to.Set(reflect.MakeSlice(to.Type(), len(list), len(list)))
	for i, element := range list {
		if err := present(element, to.Index(i), fmt.Sprintf("%s[%d]", where, i), depth+1); err != nil {
			return err
		}
	}
	return nil
}

func assignUnion(from any, to reflect.Value, members map[string]reflect.Type, where string, depth int) error {
	given, ok := from.(map[string]any)
	if !ok {
		return mismatch(where, "an attribute value such as {\"S\": \"text\"}", from)
	}
	for name, value := range given {
		member, ok := members[name]
		if !ok {
			return fmt.Errorf("%s has the type %q, which is not one of an attribute value", where, name)
		}
		if value == nil {
			delete(given, name)
			continue
		}
		union := reflect.New(member)
		if err := present(value, union.Elem().FieldByName("Value"), where+"."+name, depth+1); err != nil {
			return err
		}
		to.Set(union)
	}
	switch len(given) {
	case 0:
		return wrongValue("is empty")
	case 1:
		return nil
	}
	return wrongValue("has more than one datatypes set")
}

// wrongValue is the error for an attribute value whose number of types is not one. The service does
// not count it as a mistake in the JSON.
func wrongValue(what string) error {
	return &smithy.GenericAPIError{Code: "ValidationException", Message: "Supplied AttributeValue " + what +
		", must contain exactly one of the supported datatypes", Fault: smithy.FaultClient}
}

func assignTime(from any, to reflect.Value, where string) error {
	number, ok := from.(json.Number)
	if !ok {
		return mismatch(where, "seconds since 1970", from)
	}
	seconds, err := number.Float64()
	if err != nil {
		return mismatch(where, "seconds since 1970", from)
	}
	to.Set(reflect.ValueOf(time.UnixMilli(int64(seconds * 1000)).UTC()))
	return nil
}

func assignBytes(from any, to reflect.Value, where string) error {
	text, ok := from.(string)
	if !ok {
		return mismatch(where, "bytes in base64", from)
	}
	value, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("%s is not valid base64", where)
	}
	to.SetBytes(value)
	return nil
}

func assignNumber(from any, to reflect.Value, where string) error {
	number, ok := from.(json.Number)
	if !ok {
		return mismatch(where, "a number", from)
	}
	switch {
	case to.CanInt():
		n, err := strconv.ParseInt(number.String(), 10, to.Type().Bits())
		if err != nil {
			return mismatch(where, "an integer of "+strconv.Itoa(to.Type().Bits())+" bits", from)
		}
		to.SetInt(n)
	case to.CanFloat():
		n, err := number.Float64()
		if err != nil {
			return mismatch(where, "a number", from)
		}
		to.SetFloat(n)
	default:
		return fmt.Errorf("%s is of the type %s, which cannot be sent", where, to.Type())
	}
	return nil
}

func mismatch(where, want string, got any) error {
	kind := "something else"
	switch got.(type) {
	case string:
		kind = "a string"
	case json.Number:
		kind = "a number"
	case bool:
		kind = "true or false"
	case []any:
		kind = "an array"
	case map[string]any:
		kind = "an object"
	}
	return fmt.Errorf("%s must be %s, not %s", where, want, kind)
}

func upper(name string) string {
	first, size := utf8.DecodeRuneInString(name)
	return string(unicode.ToUpper(first)) + name[size:]
}
