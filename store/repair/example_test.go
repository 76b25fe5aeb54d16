package repair_test

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/repair"
)

// Erase removes an event for good: what is delivered under its key later is a Duplicate.
func ExampleRepairer_Erase() {
	p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{"visit": {ID: "{visit_id}", At: "{at}",
			Key: pipeline.KeySpec{PK: "VISIT#{visit_id}", SK: "VISIT"}}}})
	if err != nil {
		panic(err)
	}
	w := ingottest.New(stop{}, ingottest.Config{Pipeline: p})
	visit := `{"type":"visit","visit_id":"v1","at":"2026-03-01T09:00:00Z"}`
	w.Send(visit)
	w.Drain()
	erased, err := repair.Of(w.Store()).Erase(context.Background(), event.Key{PK: "VISIT#v1", SK: "VISIT"})
	fmt.Println(erased, err)
	w.Send(visit)
	w.Drain()
	fmt.Println(len(w.Items()))
	// Output:
	// true <nil>
	// 0
}

type stop struct{}

func (stop) Helper()                           {}
func (stop) Logf(string, ...any)               {}
func (stop) Errorf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
func (stop) Fatalf(format string, args ...any) { panic(fmt.Sprintf(format, args...)) }
