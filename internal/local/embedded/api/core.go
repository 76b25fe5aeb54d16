package api

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

// Config holds the settings that every service of an engine gets.
type Config struct {
	Now             func() time.Time
	Seed            uint64 // the seed of every random choice
	Region, Account string // as they appear in ARNs and queue URLs
	QueueURL        string // scheme and host of queue URLs
	// Intercept, when set, is called around every client call.
	Intercept func(ctx context.Context, api string, input any, call func() (any, error)) (any, error)
	// LongPolls, when set, lets a receive wait for messages until the channel is closed.
	LongPolls <-chan struct{}
	// Journal, when set, keeps every change. A call is answered once its changes are safe.
	Journal Journal
}

// Core is what the services of one engine share: the clock, the seed, the account, the hook around
// each call, and the count of requests.
type Core struct {
	Config  Config
	Meter   Meter
	refused sync.Map // API name, or type inside an input -> []field: those that the engine does not implement
}

// NewCore returns the [Core] of a new engine.
func NewCore(cfg Config) *Core { return &Core{Config: cfg} }

// Now returns the time by the engine's clock, in UTC.
func (c *Core) Now() time.Time { return c.Config.Now().UTC() }

// Source returns a generator for one part of the engine. Each part has its own. So what happens in
// one part does not shift the random choices of another.
func (c *Core) Source(part string) *rand.Rand {
	return rand.New(rand.NewPCG(c.Config.Seed, Hash(part)))
}

// Hash spreads keys over the 64-bit space that shards and scan segments divide. It is FNV-1a with a
// final mix. Without the mix, short keys leave the high bits of FNV poorly spread.
func Hash(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return h ^ h>>31
}
