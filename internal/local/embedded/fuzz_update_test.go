package embedded_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
)

// FuzzUpdate runs any update under any condition on one item. A refused update must not change
// anything. An update that succeeds must not change the key. It must report what it wrote, and
// write only numbers that a table can hold.
func FuzzUpdate(f *testing.F) {
	corpus.Add(f)
	for _, seed := range [][2]string{
		{"ADD #n :one, #v :v SET #m = :b REMOVE flag", "attribute_not_exists(#m) OR #m < :b"},
		{"SET #v = if_not_exists(#v, :v) + :one", "#v >= :v"}, {"SET PK = :s", ""},
		{"SET #n = #n - :v, #v = #n", "attribute_exists(PK) AND NOT #n IN (:one, :v)"}, {"ADD #n :s", ""}, {"SET a1 = a2", "PK = :s"},
		{"SET #v = :v REMOVE #v", ""}, {"ADD #n :big", "#n BETWEEN :one AND :v"},
	} {
		f.Add(seed[0], seed[1])
	}
	names := map[string]string{"#n": "n", "#v": "v", "#m": "m:x", "#k": "PK"}
	values := map[string]types.AttributeValue{":one": n("1"), ":v": n("-2.5"), ":big": n("9e125"), ":s": s("p"), ":b": b("\x01\x02"),
		":t": &types.AttributeValueMemberBOOL{Value: true}}
	f.Fuzz(func(t *testing.T, update, condition string) {
		w := newWorld(t)
		w.put(item("p", "s", attrs{"n": n("7"), "flag": s("x"), "a2": n("9e125")}))
		before := w.get("p", "s")
		in := &dynamodb.UpdateItemInput{TableName: aws.String("events"), Key: key("p", "s"), UpdateExpression: &update,
			ReturnValues: types.ReturnValueAllNew}
		if condition != "" {
			in.ConditionExpression = &condition
		}
		for name, meant := range names {
			if strings.Contains(update+condition, name) {
				in.ExpressionAttributeNames = with(in.ExpressionAttributeNames, name, meant)
			}
		}
		for name, v := range values {
			if strings.Contains(update+condition, name) {
				in.ExpressionAttributeValues = with(in.ExpressionAttributeValues, name, v)
			}
		}
		out, err := w.db.UpdateItem(background, in)
		after := w.get("p", "s")
		if err != nil {
			if err.Error() == "" || !reflect.DeepEqual(before, after) {
				t.Fatalf("refused (%v), and the item is %v", err, after)
			}
			return
		}
		if !reflect.DeepEqual(attrs(out.Attributes), after) ||
			!reflect.DeepEqual([2]any{after["PK"], after["SK"]}, [2]any{s("p"), s("s")}) {
			t.Fatalf("written %v, told %v", after, out.Attributes)
		}
		for name, v := range after {
			if number, ok := v.(*types.AttributeValueMemberN); ok {
				if d, err := event.ParseDecimal(number.Value); err != nil || !d.Storable() {
					t.Fatalf("%s is %s, %v", name, number.Value, err)
				}
			}
		}
	})
}

func with[V any](m map[string]V, name string, v V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[name] = v
	return m
}
