package docs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

// TestPermissionsTable compares the table of permissions with what each use asks of the tables.
// With less a use would be refused, and more is not needed.
func TestPermissionsTable(t *testing.T) {
	w := newKeptWorld(t)
	const events = 26 // a rebuild touches 25 of them in one request
	for i := range events {
		w.put(fmt.Sprint(i))
	}
	w.drain()
	spec := keptSpec()
	spec.Epoch = 2
	spec.Aggregates["again"] = pipeline.AggregateSpec{Since: 2, From: spec.Aggregates["all"].From}
	var err error
	w.plan, err = pipeline.New(spec)
	w.must(err)
	r := &recorder{Client: w.Engine.DynamoDB()}
	config := w.StoreConfig(w.plan)
	config.Client = r
	w.store, err = store.New(config)
	w.must(err)
	w.must(w.store.Start(t.Context()))
	def, _ := w.plan.Definition("again")
	var want, got strings.Builder
	use := func(name string, do func()) {
		r.seen = map[string][]string{}
		do()
		fmt.Fprintf(&want, "| %s | %s | %s |\n", name, r.on(stack.Events), r.on(stack.Aggregates))
	}
	use("`query.Total`", func() {
		_, err := query.Of(w.store).Total(t.Context(), "all", nil, time.Time{}, time.Time{})
		w.must(err)
	})
	use("`verify.Totals`", func() {
		_, err := verify.Totals(t.Context(), w.plan, w.store, w.Clock.Now())
		w.must(err)
	})
	use("`repair.Erase`", func() {
		_, err := repair.Of(w.store).Erase(t.Context(), event.Key{PK: "NOBODY", SK: "-"})
		w.must(err)
	})
	use("rebuild: `repair.Touch`, `verify.Finish`", func() {
		pass, err := repair.Of(w.store).BeginPass(t.Context(), def)
		w.must(err)
		touched, err := repair.Of(w.store).Touch(t.Context())
		w.must(err)
		before := r.seen
		r.seen = nil
		w.drain() // the function's own requests do not count
		r.seen = before
		differences, err := verify.Finish(t.Context(), w.plan, w.store, pass, w.Clock.Now())
		w.must(err)
		if touched.Touched != events || len(differences) > 0 {
			t.Fatalf("touched %+v, differences %v", touched, differences)
		}
	})
	for _, row := range table(t, deployPage, "permissions") {
		fmt.Fprintf(&got, "| %s |\n", strings.Join(row, " | "))
	}
	must.Equal(t, got.String(), want.String())
}

// recorder notes which requests are sent to which table.
type recorder struct {
	tables.Client
	seen map[string][]string // by table, each request once
}

func (r *recorder) on(table string) string {
	slices.Sort(r.seen[table])
	var cells []string
	for _, api := range r.seen[table] {
		cells = append(cells, "`"+api+"`")
	}
	return strings.Join(cells, ", ")
}

func (r *recorder) note(api string, table *string) {
	if name := aws.ToString(table); r.seen != nil && !slices.Contains(r.seen[name], api) {
		r.seen[name] = append(r.seen[name], api)
	}
}

func (r *recorder) GetItem(ctx context.Context, in *dynamodb.GetItemInput, o ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error) {
	r.note("GetItem", in.TableName)
	return r.Client.GetItem(ctx, in, o...)
}

func (r *recorder) UpdateItem(ctx context.Context, in *dynamodb.UpdateItemInput, o ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput,
	error) {
	r.note("UpdateItem", in.TableName)
	return r.Client.UpdateItem(ctx, in, o...)
}

func (r *recorder) Query(ctx context.Context, in *dynamodb.QueryInput, o ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error) {
	r.note("Query", in.TableName)
	return r.Client.Query(ctx, in, o...)
}

func (r *recorder) Scan(ctx context.Context, in *dynamodb.ScanInput, o ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error) {
	r.note("Scan", in.TableName)
	return r.Client.Scan(ctx, in, o...)
}

func (r *recorder) BatchGetItem(ctx context.Context, in *dynamodb.BatchGetItemInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error) {
	for table := range in.RequestItems {
		r.note("BatchGetItem", &table)
	}
	return r.Client.BatchGetItem(ctx, in, o...)
}

func (r *recorder) PutItem(ctx context.Context, in *dynamodb.PutItemInput, o ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error) {
	r.note("PutItem", in.TableName)
	return r.Client.PutItem(ctx, in, o...)
}

func (r *recorder) BatchExecuteStatement(ctx context.Context, in *dynamodb.BatchExecuteStatementInput,
	o ...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error) {
	r.note("BatchExecuteStatement", aws.String(stack.Events)) // only Put and Touch send statements
	return r.Client.BatchExecuteStatement(ctx, in, o...)
}

func (r *recorder) TransactWriteItems(ctx context.Context, in *dynamodb.TransactWriteItemsInput,
	o ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error) {
	r.note("TransactWriteItems", aws.String(stack.Aggregates)) // only Start and receipts send transactions
	return r.Client.TransactWriteItems(ctx, in, o...)
}
