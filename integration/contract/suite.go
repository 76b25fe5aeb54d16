package contract

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/stack"
)

var ctx = context.Background()

// attrs is an item, or a part of one.
type attrs = map[string]types.AttributeValue

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v string) types.AttributeValue { return &types.AttributeValueMemberN{Value: v} }
func b(v string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(v)} }
func yes(v bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: v} }
func m(v attrs) types.AttributeValue  { return &types.AttributeValueMemberM{Value: v} }
func list(v ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: v}
}
func key(pk, sk string) attrs           { return attrs{"PK": s(pk), "SK": s(sk)} }
func with(item attrs, more attrs) attrs { out := maps.Clone(item); maps.Copy(out, more); return out }

// allOld asks for the stored item when a condition fails.
const allOld = types.ReturnValuesOnConditionCheckFailureAllOld

// table is a fresh table with a stream, an index like those of the events table, and the index of
// the aggregates table.
type table struct {
	testing.TB
	h      *Harness
	db     DynamoDB
	name   string
	stream string // ARN
}

// newTable makes a table. It is deleted when the test ends.
func newTable(t testing.TB, h *Harness) *table {
	t.Helper()
	name := h.Name(t)
	stream, err := stack.Table{Name: name, Indexes: []string{"GSI1"}, Ranked: true, Stream: true}.Create(ctx, h.DynamoDB)
	held(t, err)
	w := &table{TB: t, h: h, db: h.DynamoDB, name: name, stream: stream}
	t.Cleanup(func() { _, _ = h.DynamoDB.DeleteTable(ctx, &dynamodb.DeleteTableInput{TableName: &name}) })
	return w
}

// in returns the same table for a subtest.
func (w *table) in(t testing.TB) *table {
	sub := *w
	sub.TB = t
	return &sub
}

// each runs cases against one table. Each case uses only its own keys.
func (w *table) each(t *testing.T, cases map[string]func(*table)) {
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		w.h.run(t, name, func(t *testing.T) { cases[name](w.in(t)) })
	}
}

// pk returns a partition key that belongs to the running test.
func (w *table) pk() string { return w.Name() }

// key returns a key of the running test.
func (w *table) key(sk string) attrs { return key(w.pk(), sk) }

// item returns an item under such a key.
func (w *table) item(sk string, more attrs) attrs { return with(w.key(sk), more) }

func (w *table) put(item attrs) {
	w.Helper()
	if _, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: item}); err != nil {
		w.Fatal(err)
	}
}

// putIf puts an item on a condition.
func (w *table) putIf(condition string, item attrs, names map[string]string, values attrs) error {
	_, err := w.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &w.name, Item: item, ConditionExpression: &condition,
		ExpressionAttributeNames: names, ExpressionAttributeValues: values})
	return err
}

func (w *table) get(k attrs) attrs {
	w.Helper()
	out, err := w.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &w.name, Key: k, ConsistentRead: aws.Bool(true)})
	held(w, err)
	return out.Item
}

// stored asserts what is stored under the key of want.
func (w *table) stored(want attrs) {
	w.Helper()
	w.same("stored", w.get(attrs{"PK": want["PK"], "SK": want["SK"]}), want)
}

func (w *table) absent(k attrs) {
	w.Helper()
	if got := w.get(k); len(got) > 0 {
		w.Errorf("stored although it should not be: %s", show(got))
	}
}

func (w *table) same(what string, got, want attrs) {
	w.Helper()
	if show(got) != show(want) {
		w.Errorf("%s:\n got %s\nwant %s", what, show(got), show(want))
	}
}

// conditionFailed asserts that err is a failed condition that carries the image. A nil image means
// that it carries none.
func (w *table) conditionFailed(err error, image attrs) {
	w.Helper()
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		w.Fatalf("error = %v, want a ConditionalCheckFailedException", err)
	}
	w.same("image of the failed condition", failed.Item, image)
}

// held asserts that a request succeeded.
func held(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused asserts the code of an error.
func refused(t testing.TB, err error, want string) {
	t.Helper()
	if got := code(err); got != want {
		t.Errorf("error code %q (%v), want %q", got, err, want)
	}
}

// code returns the code of an error, or an empty text without an error.
func code(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return "not an answer of the service: " + err.Error()
}

// show returns an item as text. Equal items have the same text.
func show(item attrs) string {
	if len(item) == 0 {
		return "{}"
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(item)) {
		parts = append(parts, name+":"+showValue(item[name]))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func showValue(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return fmt.Sprintf("S%.60q/%d", v.Value, len(v.Value))
	case *types.AttributeValueMemberN:
		return "N" + v.Value
	case *types.AttributeValueMemberB:
		return fmt.Sprintf("B%x", v.Value)
	case *types.AttributeValueMemberBOOL:
		return fmt.Sprint(v.Value)
	case *types.AttributeValueMemberM:
		return "M" + show(v.Value)
	}
	return fmt.Sprintf("%T", v)
}
