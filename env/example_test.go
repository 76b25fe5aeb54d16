package env_test

import (
	"context"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/env"
)

// A test gives a store or a handler its own clock. Every field that it leaves out is the real
// thing.
func ExampleEnv() {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	e := env.Env{
		Now:   func() time.Time { return now },
		Sleep: func(_ context.Context, d time.Duration) error { now = now.Add(d); return nil },
		Rand:  func() float64 { return 1 },
	}.Real()

	if err := e.Sleep(context.Background(), time.Hour); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(e.Now().Format(time.TimeOnly))
	// Output: 10:00:00
}
