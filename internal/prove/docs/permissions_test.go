package docs

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/verify"
)

// TestPermissionsTable compares the table of permissions with what each use asks of the tables.
// With less a use would be refused, and more is not needed.
func TestPermissionsTable(t *testing.T) {
	r := &recorder{}
	w := newKeptWorld(t, r.note)
	const events = 26 // a rebuild touches 25 of them in one request
	for i := range events {
		w.put(fmt.Sprint(i))
	}
	w.drain()
	spec := keptSpec()
	spec.Epoch = 2
	spec.Aggregates["again"] = pipeline.AggregateSpec{Since: 2, From: spec.Aggregates["all"].From}
	w.start(spec)
	def, _ := w.plan.Definition("again")
	var want [][]string
	use := func(name string, do func()) {
		r.seen = map[string][]string{}
		do()
		want = append(want, []string{name, r.on(stack.Events), r.on(stack.Aggregates)})
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
	compareTable(t, deployPage, "permissions", want)
}

// recorder notes which actions are asked for on which table.
type recorder struct {
	seen map[string][]string // by table, each action once; nil: nobody listens
}

func (r *recorder) note(_ context.Context, api string, input any, call func() (any, error)) (any, error) {
	if r.seen == nil {
		return call()
	}
	for _, c := range iam.Calls(api, input) {
		if cell := "`" + strings.TrimPrefix(c.Action, "dynamodb:") + "`"; !slices.Contains(r.seen[c.Resource], cell) {
			r.seen[c.Resource] = append(r.seen[c.Resource], cell)
		}
	}
	return call()
}

func (r *recorder) on(table string) string {
	return strings.Join(slices.Sorted(slices.Values(r.seen["dynamodb:table/"+table])), ", ")
}
