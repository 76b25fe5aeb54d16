package dev

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// With a clock that is ahead by more than an event lives, time to live removes it and its total
// falls, as it will then.
func TestAhead(t *testing.T) {
	text := strings.Replace(orders, `"PLACED"}`, "\"PLACED\"}\n    retain: 30d", 1)
	text = strings.Replace(text, "    window: 1d\n", "    onExpire: subtract\n", 1)
	cfg := Config{File: folder(t, text), Data: t.TempDir()}
	first, err := Start(t.Context(), cfg)
	must.Succeed(t, err)
	send(t, first, strings.Replace(order(1, 100), "2026-03-01T09:00:00Z", first.Now().UTC().Format(time.RFC3339), 1))
	until(t, first, counted(1))
	first.sweep()
	proven(t, first, 1, 1)
	must.Succeed(t, first.Close())

	cfg.Ahead = 31 * 24 * time.Hour
	second := start(t, cfg)
	second.clock.follow()
	second.sweep()
	until(t, second, func(s Step) bool { return s.Streams != nil && s.Streams.Archived == 1 })
	proven(t, second, 0, 1) // of no event
}
