package twin

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/local/stack"
)

// Twins are two sides that have a table of the same name.
type Twins struct {
	A, B     Side
	Table    string
	Leniency Leniency

	streams int             // so far; each has its own partitions
	differ  map[string]bool // prefixes of those that ended in a difference
}

// New makes the table on both sides.
func New(ctx context.Context, a, b Side, table string, l Leniency) (*Twins, error) {
	for _, side := range []Side{a, b} {
		if _, err := (stack.Table{Name: table}).Create(ctx, side.DB); err != nil {
			return nil, fmt.Errorf("%s: %w", side.Name, err)
		}
	}
	return &Twins{A: a, B: b, Table: table, Leniency: l, differ: map[string]bool{}}, nil
}

// Live sends the requests to both sides, in partitions that no earlier stream used. It returns how
// the first answer that differs does so, or an empty text if none does. What is stored in the end
// counts as the last answer.
func (t *Twins) Live(ctx context.Context, ops []Op) string {
	t.streams++
	at := place{t.Table, fmt.Sprintf("%05d-", t.streams)}
	ask := func(what string, in any) string {
		a, b := answer(ctx, t.A.DB, in, t.Leniency), answer(ctx, t.B.DB, in, t.Leniency)
		if a == b {
			return ""
		}
		t.differ[at.prefix] = true
		return fmt.Sprintf("%s:\n%s\n%s says\n%s\n%s says\n%s", what, describe(in), t.A.Name, indent(a), t.B.Name, indent(b))
	}
	for i, op := range ops {
		if t.Leniency.Twice && twice(op(at)) {
			continue
		}
		if difference := ask(fmt.Sprintf("request %d of %d", i+1, len(ops)), op(at)); difference != "" {
			return difference
		}
	}
	for _, pk := range []string{"p", "q"} {
		in := &dynamodb.QueryInput{TableName: &t.Table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("PK = :pk"),
			ExpressionAttributeValues: attrs{":pk": s(at.prefix + pk)}}
		if difference := ask("what is stored in the end", in); difference != "" {
			return difference
		}
	}
	return ""
}

// twice reports whether a request is a transaction that writes one item twice.
func twice(in any) bool {
	request, ok := in.(*dynamodb.TransactWriteItemsInput)
	if !ok {
		return false
	}
	seen := map[string]bool{}
	for _, one := range request.TransactItems {
		key := attrs{}
		switch {
		case one.Put != nil:
			key = attrs{"PK": one.Put.Item["PK"], "SK": one.Put.Item["SK"]}
		case one.Update != nil:
			key = one.Update.Key
		}
		if seen[show(key)] {
			return true
		}
		seen[show(key)] = true
	}
	return false
}

// Whole compares the tables by scanning them page by page. It leaves out streams that are known to
// have ended in a difference.
func (t *Twins) Whole(ctx context.Context) (items int, difference string, err error) {
	var tables [2]map[string]string
	for i, side := range []Side{t.A, t.B} {
		if tables[i], err = scan(ctx, side.DB, t.Table); err != nil {
			return 0, "", fmt.Errorf("%s: %w", side.Name, err)
		}
		maps.DeleteFunc(tables[i], func(key, _ string) bool {
			prefix, _, _ := strings.Cut(strings.TrimPrefix(key, `PK:"`), "-")
			return t.differ[prefix+"-"]
		})
	}
	var lines []string
	all := maps.Clone(tables[0])
	maps.Copy(all, tables[1])
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if a, b := tables[0][key], tables[1][key]; a != b {
			lines = append(lines, fmt.Sprintf("%s:\n%s has\n%s\n%s has\n%s", key, t.A.Name, indent(a), t.B.Name, indent(b)))
		}
	}
	return len(all), strings.Join(lines, "\n"), nil
}

func scan(ctx context.Context, db contract.DynamoDB, table string) (map[string]string, error) {
	items := map[string]string{}
	in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}
	for {
		out, err := db.Scan(ctx, in)
		if err != nil {
			return nil, err
		}
		for _, item := range out.Items {
			key := show(attrs{"PK": item["PK"], "SK": item["SK"]})
			if items[key] != "" {
				return nil, fmt.Errorf("%s came twice", key)
			}
			items[key] = show(item)
		}
		if in.ExclusiveStartKey = out.LastEvaluatedKey; len(in.ExclusiveStartKey) == 0 {
			return items, nil
		}
	}
}

// Shrink leaves out requests that the difference does not need. It tries halves first, then smaller
// parts, and then single requests.
func (t *Twins) Shrink(ctx context.Context, ops []Op) []Op {
	for size := len(ops) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(ops); {
			less := slices.Delete(slices.Clone(ops), from, from+size)
			if t.Live(ctx, less) != "" {
				ops = less
			} else {
				from += size
			}
		}
	}
	return ops
}

// Describe returns the requests as text, one on each line.
func Describe(ops []Op) string {
	var lines []string
	for _, op := range ops {
		lines = append(lines, describe(op(place{"T", ""})))
	}
	return strings.Join(lines, "\n")
}

// describe shows every field that is set.
func describe(in any) string {
	return strings.TrimSuffix(reflect.TypeOf(in).Elem().Name(), "Input") + describeFields(reflect.ValueOf(in).Elem())
}

func describeFields(v reflect.Value) string {
	switch in := v.Interface().(type) {
	case attrs:
		return " {" + show(in) + "}"
	case []types.AttributeValue:
		var all []string
		for _, a := range in {
			all = append(all, showValue(a))
		}
		return " [" + strings.Join(all, ", ") + "]"
	}
	switch v.Kind() {
	case reflect.Pointer:
		return describeFields(v.Elem())
	case reflect.Struct:
		var b strings.Builder
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() && !v.Field(i).IsZero() && f.Name != "TableName" {
				b.WriteString(" " + f.Name + describeFields(v.Field(i)))
			}
		}
		return b.String()
	case reflect.Map:
		var parts []string
		for _, key := range v.MapKeys() {
			parts = append(parts, key.String()+describeFields(v.MapIndex(key)))
		}
		slices.Sort(parts)
		return " {" + strings.Join(parts, ", ") + "}"
	case reflect.Slice:
		var b strings.Builder
		for i := range v.Len() {
			b.WriteString("\n\t" + strings.TrimSpace(describeFields(v.Index(i))))
		}
		return b.String()
	case reflect.String:
		return fmt.Sprintf(" %q", v.String())
	}
	return fmt.Sprintf(" %v", v.Interface())
}

func indent(text string) string { return "\t" + strings.ReplaceAll(text, "\n", "\n\t") }
