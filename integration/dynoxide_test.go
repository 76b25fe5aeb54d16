package integration

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/integration/endpoint"
)

// dynoxide is a fresh Dynoxide that lives as long as the test; or a skip that says what is missing.
func dynoxide(t *testing.T) *contract.Harness {
	t.Helper()
	required := os.Getenv(endpoint.RequiredVariable) == "1"
	if testing.Short() && !required {
		t.Skip("short: not against an emulator; run without -short")
	}
	e, err := endpoint.Dynoxide(t.Context())
	var missing *endpoint.Missing
	switch {
	case errors.As(err, &missing) && !required:
		t.Skip(missing)
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c := e.Clients()
	return &contract.Harness{Backend: e.Name, DynamoDB: c.DynamoDB, Streams: c.Streams, Name: name,
		Pass: func() { time.Sleep(5 * time.Millisecond) }}
}

// TestContractOfDynoxide holds Dynoxide to the contract.
func TestContractOfDynoxide(t *testing.T) {
	summary(t, "dynoxide", contract.Run(t, dynoxide(t)))
}
