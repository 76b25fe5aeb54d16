package integration

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// startDynoxide runs once. If the emulator cannot be fetched, it takes a while to find that out.
var startDynoxide = sync.OnceValues(func() (*endpoint.Endpoint, error) {
	e, err := endpoint.Dynoxide(context.Background())
	shared.mu.Lock()
	defer shared.mu.Unlock()
	shared.dynoxide = e
	return e, err
})

// dynoxide returns the Dynoxide of this test run. If there is none, it skips the test and says what
// is missing.
func dynoxide(t *testing.T) *contract.Harness {
	t.Helper()
	if testing.Short() && !endpoint.Required() {
		t.Skip("short: not against an emulator; run without -short")
	}
	e, err := startDynoxide()
	endpoint.Need(t, err)
	c := e.Clients()
	return &contract.Harness{Backend: e.Name, DynamoDB: c.DynamoDB, Streams: c.Streams, Name: name,
		Pass: func() { time.Sleep(5 * time.Millisecond) }}
}

// TestContractOfDynoxide compares Dynoxide with the contract.
func TestContractOfDynoxide(t *testing.T) {
	summary(t, "dynoxide", contract.Run(t, dynoxide(t)))
}
