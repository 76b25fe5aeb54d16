package contract_test

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// A form is one thing that a request asks for, without names and values, such as
//
//	UpdateItem: ADD # :N
//	UpdateItem: if (attribute_not_exists(#) OR # < :B)
//	BatchGetItem: ConsistentRead true
//
// The forms of a request together are everything that it asks for.

// forms returns the forms of a DynamoDB request. Other requests have none.
func forms(api string, input any) []string {
	var all []string
	switch in := input.(type) {
	case *dynamodb.TransactWriteItemsInput:
		for _, item := range in.TransactItems {
			all = append(all, fields(api, item)...)
		}
		all = append(all, fields(api, *in, "TransactItems")...)
	case *dynamodb.BatchExecuteStatementInput:
		for _, s := range in.Statements {
			all = append(all, fields(api, s)...)
		}
		all = append(all, fields(api, *in, "Statements")...)
	case *dynamodb.BatchGetItemInput:
		for _, keys := range in.RequestItems {
			all = append(all, fields(api, keys)...)
		}
		all = append(all, fields(api, *in, "RequestItems")...)
	default:
		if !strings.HasSuffix(reflect.TypeOf(input).Elem().PkgPath(), "/dynamodb") {
			return nil
		}
		all = fields(api, reflect.ValueOf(input).Elem().Interface())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// fields returns the forms of every field that is set.
func fields(api string, in any, but ...string) []string {
	v := reflect.ValueOf(in)
	values, _ := field(v, "ExpressionAttributeValues").(map[string]types.AttributeValue)
	var all []string
	say := func(format string, args ...any) { all = append(all, api+": "+fmt.Sprintf(format, args...)) }
	for i := range v.NumField() {
		name, f := v.Type().Field(i).Name, v.Field(i)
		if f.IsZero() || slices.Contains(but, name) || !v.Type().Field(i).IsExported() {
			continue
		}
		switch name {
		case "TableName", "Key", "Keys", "ExpressionAttributeNames", "ExpressionAttributeValues", "ClientRequestToken":
		case "Put", "Update", "Delete", "ConditionCheck":
			all = append(all, fields(api+" "+name, f.Elem().Interface())...)
		case "Item":
			for _, a := range f.Interface().(map[string]types.AttributeValue) {
				say("an attribute of type %s", typeOf(a))
			}
		case "Parameters":
			for _, a := range f.Interface().([]types.AttributeValue) {
				say("a parameter of type %s", typeOf(a))
			}
		case "Statement":
			for _, clause := range statement(f.Elem().String()) {
				say("%s", clause)
			}
		case "UpdateExpression":
			for _, clause := range clauses(abstract(f.Elem().String(), values)) {
				say("%s", clause)
			}
		case "ConditionExpression":
			for _, c := range split(abstract(f.Elem().String(), values), " AND ") {
				say("if %s", c)
			}
		case "KeyConditionExpression", "ProjectionExpression":
			say("%s %s", name, abstract(f.Elem().String(), values))
		case "Limit", "Segment", "TotalSegments":
			say("%s", name)
		case "ExclusiveStartKey":
			say("from a key on")
		default:
			if f.Kind() == reflect.Pointer {
				f = f.Elem()
			}
			say("%s %v", name, f.Interface())
		}
	}
	return all
}

func field(v reflect.Value, name string) any {
	if f := v.FieldByName(name); f.IsValid() {
		return f.Interface()
	}
	return nil
}

func typeOf(v types.AttributeValue) string {
	return strings.TrimPrefix(fmt.Sprintf("%T", v), "*types.AttributeValueMember")
}

var (
	placeholder = regexp.MustCompile(`[#:]\w+`)
	attribute   = regexp.MustCompile(`('[^']*': \?(, )?)+`)
	table       = regexp.MustCompile(`"[^"]*"`)
	section     = regexp.MustCompile(`\b(ADD|SET|REMOVE|DELETE) `)
)

// abstract removes names from an expression, and leaves only the types of values.
func abstract(expression string, values map[string]types.AttributeValue) string {
	return placeholder.ReplaceAllStringFunc(expression, func(p string) string {
		if p[0] == '#' {
			return "#"
		}
		if v := values[p]; v != nil {
			return ":" + typeOf(v)
		}
		return ":"
	})
}

// statement returns the clauses of a PartiQL statement. For an UPDATE these are its assignments,
// removals and conditions.
func statement(text string) []string {
	update, where, isUpdate := strings.Cut(text, " WHERE ")
	if !isUpdate {
		return []string{attribute.ReplaceAllString(table.ReplaceAllString(text, `"…"`), "'…': ?, …")}
	}
	_, update, _ = strings.Cut(name.ReplaceAllString(update, "#"), "UPDATE # ")
	sets, removes, _ := strings.Cut(update, " REMOVE ")
	var all []string
	for _, part := range split(strings.TrimPrefix(sets, "SET "), ", ") {
		all = append(all, "UPDATE SET "+part)
	}
	switch strings.Count(removes, "REMOVE") {
	case 0:
		if removes != "" {
			all = append(all, "UPDATE REMOVE #")
		}
	default:
		all = append(all, "UPDATE REMOVE # REMOVE #, …")
	}
	for _, part := range split(name.ReplaceAllString(where, "#"), " AND ") {
		all = append(all, "UPDATE WHERE "+part)
	}
	return all
}

// name matches an attribute or a table in a statement. It is in quotes, or without quotes in a sum.
var name = regexp.MustCompile(`"[^"]*"|\b[a-z_][a-z0-9_]*\b`)

// clauses returns the actions of an update, each with its section, and which sections are used
// together.
func clauses(update string) []string {
	var all, words []string
	starts := section.FindAllStringIndex(update, -1)
	for i, at := range starts {
		end := len(update)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		word := strings.TrimSpace(update[at[0]:at[1]])
		words = append(words, word)
		for _, part := range split(strings.TrimSpace(update[at[1]:end]), ", ") {
			all = append(all, word+" "+part)
		}
	}
	if len(words) > 1 {
		all = append(all, strings.Join(words, " and ")+" together")
	}
	return all
}

// split splits a text at each separator that is not inside parentheses.
func split(text, separator string) []string {
	var parts []string
	depth, from := 0, 0
	for i := range text {
		switch {
		case text[i] == '(':
			depth++
		case text[i] == ')':
			depth--
		case depth == 0 && i >= from && strings.HasPrefix(text[i:], separator):
			parts = append(parts, text[from:i])
			from = i + len(separator)
		}
	}
	return append(parts, text[from:])
}
