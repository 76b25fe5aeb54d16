package wire

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	streams "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// small holds the types whose members begin with a lower-case letter on the wire.
var small = map[reflect.Type]bool{reflect.TypeFor[streams.Record](): true}

// unsent lists the members of the SDK's types that are not sent.
var unsent = []string{"ResultMetadata", "ErrorCodeOverride"}

// encode returns an answer of the SDK as AWS JSON. It leaves out members that are not set.
func encode(answer any) ([]byte, error) { return appendValue(nil, reflect.ValueOf(answer)) }

// appendMembers appends the members of a structure, each after a comma unless it is the first.
func appendMembers(b []byte, v reflect.Value, skip ...string) ([]byte, error) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || slices.Contains(unsent, f.Name) || slices.Contains(skip, f.Name) || isUnset(v.Field(i)) {
			continue
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		name := f.Name
		if small[t] {
			name = lower(name)
		}
		b = append(strconv.AppendQuote(b, name), ':')
		var err error
		if b, err = appendValue(b, v.Field(i)); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	return b, nil
}

// isUnset reports whether an answer leaves out a member. It never leaves out a number or a bool
// that is not a pointer: such a member is required, so 0 and false are values.
func isUnset(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Slice, reflect.Map:
		return v.IsNil()
	case reflect.String:
		return v.Len() == 0 // an enumeration
	default:
		return false
	}
}

func appendValue(b []byte, v reflect.Value) ([]byte, error) {
	switch value := v.Interface().(type) {
	case time.Time:
		return strconv.AppendFloat(b, float64(value.UnixMilli())/1000, 'f', -1, 64), nil
	case []byte:
		return append(base64.StdEncoding.AppendEncode(append(b, '"'), value), '"'), nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		return appendValue(b, v.Elem())
	case reflect.Interface:
		return appendUnion(b, v.Elem())
	case reflect.Struct:
		b, err := appendMembers(append(b, '{'), v)
		return append(b, '}'), err
	case reflect.Map:
		return appendMap(b, v)
	case reflect.Slice:
		b = append(b, '[')
		for i := range v.Len() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendValue(b, v.Index(i)); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case reflect.String:
		return appendText(b, v.String())
	case reflect.Bool:
		return strconv.AppendBool(b, v.Bool()), nil
	}
	switch {
	case v.CanInt():
		return strconv.AppendInt(b, v.Int(), 10), nil
	case v.CanFloat():
		return strconv.AppendFloat(b, v.Float(), 'f', -1, 64), nil
	default:
		return nil, fmt.Errorf("the type %s cannot be sent", v.Type())
	}
}

// appendUnion appends the value of a union, with its kind as its name. The name of the Go type ends
// with the kind.
func appendUnion(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return nil, errors.New("an attribute has no value")
	}
	v = v.Elem()
	_, member, ok := strings.Cut(v.Type().Name(), "Member")
	if !ok {
		return nil, fmt.Errorf("the type %s cannot be sent", v.Type())
	}
	b = append(strconv.AppendQuote(append(b, '{'), member), ':')
	b, err := appendValue(b, v.FieldByName("Value"))
	return append(b, '}'), err
}

func appendMap(b []byte, v reflect.Value) ([]byte, error) {
	names := v.MapKeys()
	slices.SortFunc(names, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = appendText(b, name.String()); err != nil {
			return nil, err
		}
		if b, err = appendValue(append(b, ':'), v.MapIndex(name)); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendText(b []byte, text string) ([]byte, error) {
	quoted, err := json.Marshal(text)
	return append(b, quoted...), err
}

func lower(name string) string { return strings.ToLower(name[:1]) + name[1:] }
