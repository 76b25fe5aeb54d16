package integration

import (
	"maps"
	"sync/atomic"
	"testing"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
)

// backend is what the tests of the main path run on.
type backend struct {
	db      contract.DynamoDB
	streams esm.StreamClient
	sqs     contract.SQS
	s3      contract.S3
	env     env.Env
	now     func() time.Time
	pass    func()                // lets a moment pass
	jump    func(time.Duration)   // moves the clock of the engine; nil on a real endpoint
	sent    func() map[string]int // requests so far, by API name
	engine  *embedded.Engine      // nil on a real endpoint
}

// onEach runs a test on the engine and on the endpoint.
func onEach(t *testing.T, test func(*testing.T, *backend)) {
	t.Run("embedded", func(t *testing.T) { test(t, embeddedBackend()) })
	t.Run(endpointName(), func(t *testing.T) { test(t, endpointBackend(t)) })
}

// began is when the clock of the engine begins. The events of these tests are of that year too, so
// that none expires.
var began = must.Time("2099-03-01T12:00:00Z")

// embeddedBackend returns an engine whose clock stands still unless a test waits.
func embeddedBackend() *backend { return engineBackend(embedded.Config{}) }

func engineBackend(cfg embedded.Config) *backend {
	var offset atomic.Int64
	now := func() time.Time { return began.Add(time.Duration(offset.Load())) }
	cfg.Now = now
	e := embedded.New(cfg)
	return &backend{db: e.DynamoDB(), streams: e.Streams(), sqs: e.SQS(), s3: e.S3(), engine: e, now: now, env: env.Env{Now: now},
		pass: func() { offset.Add(int64(time.Second)) }, jump: func(d time.Duration) { offset.Add(int64(d)) }, sent: sentTo(e)}
}

// endpointBackend returns the endpoint. If the endpoint has no queues or buckets, it uses those of
// the engine.
func endpointBackend(t *testing.T) *backend {
	h := endpointHarness(t)
	e := embedded.New(embedded.Config{})
	b := &backend{db: h.DynamoDB, streams: h.Streams, sqs: h.SQS, s3: h.S3, now: time.Now, pass: h.Pass}
	clients, engine := shared.clients.Sent, sentTo(e)
	b.sent = func() map[string]int {
		all := clients()
		maps.Copy(all, engine())
		return all
	}
	if b.sqs == nil {
		b.sqs = e.SQS()
	}
	if b.s3 == nil {
		b.s3 = e.S3()
	}
	return b
}

func sentTo(e *embedded.Engine) func() map[string]int {
	return func() map[string]int {
		all := map[string]int{}
		for api, n := range e.Usage().Requests {
			all[api] = int(n)
		}
		return all
	}
}

// since returns what was sent after before was taken.
func (b *backend) since(before map[string]int) map[string]int {
	more := b.sent()
	for api, n := range before {
		if more[api] -= n; more[api] == 0 {
			delete(more, api)
		}
	}
	return more
}
