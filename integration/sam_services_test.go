package integration

import (
	"encoding/json"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/integration/endpoint"
	"github.com/ingot-events/ingot/internal/stack"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// samServices is the endpoint as the containers of the functions reach it.
type samServices struct {
	clients *endpoint.Clients
	url     string
}

func openServices(t *testing.T) *samServices {
	t.Helper()
	e, clients := open(t)
	if clients.SQS == nil || clients.S3 == nil {
		t.Skipf("%s has no queues or no buckets, and the functions need both", e.URL)
	}
	return &samServices{clients, fromContainers(t, e.URL)}
}

// fromContainers makes an endpoint reachable from containers, even if it answers only on the
// loopback interface.
func fromContainers(t *testing.T, target string) string {
	t.Helper()
	at, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(hostOfContainers(), "0"))
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }})
	_ = proxy.Listener.Close()
	proxy.Listener = listener
	proxy.Start()
	t.Cleanup(proxy.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "http://host.docker.internal:" + port // samconfig.toml uses this name for this machine
}

// hostOfContainers returns the address behind host.docker.internal. It is the address of Docker's
// bridge. If the engine has its own machine (Docker Desktop), it is the loopback interface.
func hostOfContainers() string {
	bridge, err := net.InterfaceByName("docker0")
	if err != nil {
		return "127.0.0.1"
	}
	addresses, _ := bridge.Addrs()
	for _, a := range addresses {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil && prefix.Addr().Is4() {
			return prefix.Addr().String()
		}
	}
	return "127.0.0.1"
}

// samWorld is one test's own tables, quarantine queue and bucket.
type samWorld struct {
	clients     *endpoint.Clients
	plan        *pipeline.Pipeline
	store       *store.Store
	queue       string // URL
	bucket      string
	environment string // the file for sam local invoke --env-vars
}

func (s *samServices) world(t *testing.T, key, counting string) *samWorld {
	t.Helper()
	events, aggregates, bucket := name(t), name(t), name(t)
	w := &samWorld{clients: s.clients, bucket: bucket, environment: filepath.Join(t.TempDir(), "env.json")}
	way, err := aggregate.ParseCounting(counting)
	if err != nil {
		t.Fatal(err)
	}
	if w.plan, err = pipeline.Load(os.DirFS(".."), "pipeline.yaml", pipeline.Secret([]byte(key))); err != nil {
		t.Fatal(err)
	}
	// The tables have no stream, because nobody would read it: the changes come from files.
	for _, table := range []stack.Table{{Name: events, Indexes: w.plan.Indexes()}, {Name: aggregates}} {
		if _, err := table.Create(t.Context(), w.clients.DynamoDB); err != nil {
			t.Fatal(err)
		}
	}
	if err := stack.CreateArchive(t.Context(), w.clients.S3, bucket); err != nil {
		t.Fatal(err)
	}
	if w.queue, err = (stack.Queue{Name: name(t)}).Create(t.Context(), w.clients.SQS); err != nil {
		t.Fatal(err)
	}
	if w.store, err = store.New(store.Config{Client: w.clients.DynamoDB, Pipeline: w.plan, Events: events, Aggregates: aggregates, Counting: way}); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(map[string]any{"Parameters": map[string]string{
		"INGOT_TABLE": events, "INGOT_AGGREGATES_TABLE": aggregates, "INGOT_QUARANTINE_URL": w.queue, "INGOT_ARCHIVE_BUCKET": bucket,
		"INGOT_COUNTING": counting, "INGOT_PII_KEY": key, "INGOT_ENDPOINT_URL": s.url}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(w.environment, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return w
}
