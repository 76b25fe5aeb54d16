package contract_test

import (
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/tables"
)

// TestContract compares the engine with the contract. The package integration compares LocalStack
// with the same contract.
func TestContract(t *testing.T) {
	for name, cfg := range map[string]embedded.Config{"embedded": {}, "embedded, one shard": {Partitions: 1},
		"embedded, images from PartiQL": {PartiQLReturnsItem: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract.Run(t, harness(embedded.New(cfg)))
		})
	}
}

func harness(e *embedded.Engine) *contract.Harness {
	var names atomic.Int64
	return &contract.Harness{Backend: "embedded", DynamoDB: e.DynamoDB(), Streams: e.Streams(), SQS: e.SQS(), S3: e.S3(),
		Name: func(testing.TB) string { return fmt.Sprintf("contract-test-number-%d", names.Add(1)) }, Pass: func() {}}
}

// suite runs the suite on an engine and records its requests.
func suite(t *testing.T) (*record, []*contract.Case) {
	t.Helper()
	r := newRecord()
	h := harness(r.engine(embedded.Config{}))
	r.who = h.Running
	var cases []*contract.Case
	if !t.Run("suite", func(t *testing.T) { cases = contract.Run(t, h) }) {
		t.FailNow()
	}
	return r, cases
}

// TestEveryCallIsCovered shows that the suite has every call that the main path can make. A method
// that is added to one of these interfaces must be added to the suite too.
func TestEveryCallIsCovered(t *testing.T) {
	e := embedded.New(embedded.Config{})
	if !t.Run("embedded", func(t *testing.T) { contract.Run(t, harness(e)) }) {
		return
	}
	asked := e.Usage().Requests
	for _, client := range []reflect.Type{reflect.TypeFor[tables.Client](), reflect.TypeFor[quarantine.Client](),
		reflect.TypeFor[handler.Uploader](),
		reflect.TypeFor[esm.QueueClient](), reflect.TypeFor[esm.StreamClient]()} {
		for i := range client.NumMethod() {
			if name := client.Method(i).Name; asked[name] == 0 {
				t.Errorf("%s.%s is never called by the suite", client, name)
			}
		}
	}
}

// TestDifferencesAreReasoned shows that every difference names what each side does, and the source
// that shows that the engine is right.
func TestDifferencesAreReasoned(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range contract.Differences {
		if d.Name == "" || d.Backend == "" || d.Backend == "embedded" || d.Engine == "" || d.Other == "" || d.Engine == d.Other ||
			!strings.Contains(d.Source, "https://") {
			t.Errorf("incomplete: %+v", d)
		}
		if seen[d.Backend+" "+d.Name] {
			t.Errorf("%s: %q is there twice", d.Backend, d.Name)
		}
		seen[d.Backend+" "+d.Name] = true
	}
}
