package worker_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/verify/sums"
	"github.com/ingot-events/ingot/worker"
)

// calls notes which actions DynamoDB is asked for, and of which table.
type calls struct {
	mu   sync.Mutex
	made map[string]bool // nil: nobody listens
}

func (c *calls) note(_ context.Context, api string, in any, call func() (any, error)) (any, error) {
	c.mu.Lock()
	if c.made != nil {
		for _, asked := range iam.Calls(api, in) {
			c.made[asked.Action+" "+asked.Resource] = true
		}
	}
	c.mu.Unlock()
	return call()
}

// The role of the worker allows what it calls, and nothing more. In the tables it writes only
// fences and what a run of the schedule has found.
func TestRole(t *testing.T) {
	heard := &calls{}
	w, _, world := filledWith(t, heard.note)
	moving(t, world)
	p := written.Pipeline(t, sales)
	w.Moving = func(ctx context.Context) (*migrate.Migration, error) { return open(ctx, world, p) }
	heard.made = map[string]bool{}
	for _, job := range []string{worker.Verify, worker.Look, worker.Compare} {
		folder := &testworld.Folder{}
		w.Open = func(string) (sums.Folder, error) { return folder, nil }
		for _, step := range worker.StepsOf(job) {
			for part := range 2 {
				of := task(step, part)
				of.Job = job
				if _, err := w.Handle(t.Context(), of); err != nil {
					t.Fatalf("%+v: %v", of, err)
				}
			}
		}
	}
	made := heard.made
	heard.made = nil
	allowed := allowed()
	for call := range made {
		if !allowed[call] {
			t.Errorf("it calls %s, and its role does not allow it", call)
		}
		delete(allowed, call)
	}
	run := newWeek(t, aggregate.Marks)
	run.damage("s1")
	run.role = iam.Worker()
	run.run()
	must.Match(t, run.role.Denied(), []string(nil))
	for _, right := range run.role.Used() {
		for _, on := range strings.Fields(right.On) {
			delete(allowed, right.Action+" "+on)
		}
	}
	// Parts of events are read in batches, which these events have not.
	want := []string{"dynamodb:BatchGetItem dynamodb:table/" + stack.Events}
	must.Match(t, slices.Sorted(maps.Keys(allowed)), want)
}

// allowed lists what the role allows with tables.
func allowed() map[string]bool {
	list := map[string]bool{}
	for _, s := range iam.Worker().Statements {
		for _, action := range s.Actions {
			for _, on := range s.Resources {
				if strings.HasPrefix(on, "dynamodb:table/") {
					list[action+" "+on] = true
				}
			}
		}
	}
	return list
}
