package integration

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingot-events/ingot/integration/contract"
)

// TestContract compares the endpoint with the contract. integration/contract compares the engine
// with it.
func TestContract(t *testing.T) {
	t.Run(endpointName(), func(t *testing.T) {
		h := endpointHarness(t)
		summary(t, h.Backend, contract.Run(t, h))
	})
}

// summary prints what docs/correctness.md says in a table. The run proves it.
func summary(t *testing.T, backend string, cases []*contract.Case) {
	t.Helper()
	agree, differ, _ := contract.Count(contract.BackendOf(backend), cases)
	t.Logf("%s: %d cases, %d agree with the engine, %d differ as docs/correctness.md says", backend, len(cases), agree, differ)
}

// run makes the names of this run different from those of any other run on the same endpoint.
var run, names = time.Now().UnixNano(), atomic.Int64{}

func name(testing.TB) string { return fmt.Sprintf("ingot-%d-%d", run, names.Add(1)) }

func endpointHarness(t *testing.T) *contract.Harness {
	t.Helper()
	e, c := open(t)
	h := &contract.Harness{Backend: e.Name, DynamoDB: c.DynamoDB, Streams: c.Streams, Name: name,
		Pass: func() { time.Sleep(50 * time.Millisecond) }}
	if c.SQS != nil {
		h.SQS = c.SQS
	}
	if c.S3 != nil {
		h.S3 = c.S3
	}
	return h
}
