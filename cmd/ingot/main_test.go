package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.uber.org/goleak"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// TestMain makes the test program the tool itself where a script calls ingot, the tool on a
// terminal of 80 columns where it calls ingot80, and a stand-in for the AWS CLI where it calls aws.
// No command leaves a goroutine behind, whether it ends by itself or is interrupted.
func TestMain(m *testing.M) {
	testscript.Main(careful{m}, map[string]func(){"ingot": quick(0), "ingot80": quick(80), "aws": awsCLI})
}

// careful runs the tests, and fails if a goroutine is left.
type careful struct{ *testing.M }

func (c careful) Run() int {
	code := c.M.Run()
	if code == 0 {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return code
}

// quick returns the tool as main runs it, on a terminal of so many columns. What it waits for a
// stack is over at once.
func quick(columns int) func() {
	return func() {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
		identify(os.Args[1:])
		a := appOf(cli.IO{Env: os.LookupEnv, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Columns: columns, Clock: quickClock()})
		code := execute(ctx, a, os.Args[1:])
		stop()
		os.Exit(code)
	}
}

// quickClock is a clock that waiting sets ahead. Other processes get some real time meanwhile.
func quickClock() env.Env {
	var ahead atomic.Int64
	return env.Env{
		Now: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) },
		Sleep: func(ctx context.Context, d time.Duration) error {
			ahead.Add(int64(d))
			return env.Env{}.Real().Sleep(ctx, min(d, 2*time.Millisecond))
		},
	}
}
