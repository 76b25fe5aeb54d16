package dev

import (
	"fmt"
	"net/http"

	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/tool/target"
)

// makeSwitches makes the part that answers requests to Lambda. The event source mappings can be
// paused, as on a stack. They are on again after a restart of ingot dev.
func (d *Dev) makeSwitches() {
	d.switches = mappings.New(
		mappings.Mapping{UUID: "00000000-0000-4000-8000-000000000001", Function: target.DevIngest, Source: d.queue.ARN()},
		mappings.Mapping{UUID: "00000000-0000-4000-8000-000000000002", Function: target.DevStreams, Source: d.stack.StreamARN})
	d.switches.Region, d.switches.Account, d.switches.Last = Region, Account, d.lastOf
}

// These are what Lambda says of the last batch of a mapping.
const (
	lastFailed = "PROBLEM: Function call failed"
	lastFine   = "OK"
)

// last notes what became of a batch.
func (d *Dev) last(function, said string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.results[function] = said
}

func (d *Dev) lastOf(function string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.results[function]
}

// protocols answers requests to all services of AWS.
func (d *Dev) protocols(others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case mappings.Answers(r):
			d.switches.ServeHTTP(w, r)
		case r.Method == http.MethodGet && r.URL.Path == target.LocalID:
			fmt.Fprintln(w, d.id)
		default:
			if d.cfg.Caller != nil {
				r = r.WithContext(iam.As(r.Context(), d.cfg.Caller()))
			}
			others.ServeHTTP(w, r)
			if makesTable(r) {
				d.remade.Store(true)
			}
		}
	})
}
