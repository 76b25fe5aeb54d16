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
	"regexp"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/samples"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
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
	must.Succeed(t, err)
	listener, err := net.Listen("tcp", net.JoinHostPort(hostOfContainers(), "0"))
	must.Succeed(t, err)
	proxy := httptest.NewUnstartedServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }})
	_ = proxy.Listener.Close()
	proxy.Listener = listener
	proxy.Start()
	t.Cleanup(proxy.Close)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	must.Succeed(t, err)
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

// samWorld is one sample's own tables, quarantine queue and bucket, and its own function.
type samWorld struct {
	sample      *samples.File
	counting    aggregate.Counting
	function    string // its name in the template of withFunctions
	environment map[string]string
	clients     *endpoint.Clients
	plan        *pipeline.Pipeline
	store       *store.Store
	tables      []stack.Table
	queue       string // URL
	bucket      string
}

// world names what a sample needs, and makes the queue, whose URL the function must know. The rest
// is made by create.
func (s *samServices) world(t *testing.T, of *samples.File, key, counting string) *samWorld {
	t.Helper()
	events, aggregates := name(t), name(t)
	w := &samWorld{sample: of, clients: s.clients, bucket: name(t)}
	w.function = functionNames[of.Function] + "Of" + strings.ReplaceAll(w.bucket, "-", "")
	var err error
	w.counting, err = aggregate.ParseCounting(counting)
	must.Succeed(t, err)
	w.plan, err = pipeline.Load(os.DirFS(".."), "pipeline.yaml", pipeline.Secret([]byte(key)))
	must.Succeed(t, err)
	// The tables have no stream, because nobody would read it: the changes come from files.
	w.tables = []stack.Table{{Name: events, Indexes: w.plan.Indexes()}, {Name: aggregates}}
	w.queue, err = (stack.Queue{Name: name(t)}).Create(t.Context(), w.clients.SQS)
	must.Succeed(t, err)
	w.store, err = store.New(tables.Config{Client: w.clients.DynamoDB, Pipeline: w.plan, Events: events, Aggregates: aggregates,
		Counting: w.counting})
	must.Succeed(t, err)
	w.environment = map[string]string{"INGOT_TABLE": events, "INGOT_AGGREGATES_TABLE": aggregates, "INGOT_QUARANTINE_URL": w.queue,
		"INGOT_ARCHIVE_BUCKET": w.bucket, "INGOT_COUNTING": counting, "INGOT_PII_KEY": key, "INGOT_ENDPOINT_URL": s.url}
	return w
}

// create makes the tables and the bucket.
func (w *samWorld) create(t *testing.T) {
	t.Helper()
	for _, table := range w.tables {
		_, err := table.Create(t.Context(), w.clients.DynamoDB)
		must.Succeed(t, err)
	}
	must.Succeed(t, stack.CreateArchive(t.Context(), w.clients.S3, w.bucket))
}

// withFunctions returns a copy of a built template in which each world has its own function, made
// of the function that the sample is for, and the file for --env-vars with the variables of each.
// The environment of a sam local start-lambda cannot change once it runs.
func withFunctions(t *testing.T, template string, worlds []*samWorld) (copied, environment string) {
	t.Helper()
	text := must.Read(t, template)
	before, resources, found := strings.Cut(string(text), "\nResources:\n")
	if !found {
		t.Fatalf("%s has no Resources", template)
	}
	variables := map[string]map[string]string{}
	var functions strings.Builder
	for _, w := range worlds {
		from := functionNames[w.sample.Function]
		declared := regexp.MustCompile(`(?m)^  ` + from + `:\n(   .*\n)+`).FindString(resources)
		if n := strings.Count(declared, "SamResourceId: "+from); n != 1 {
			t.Fatalf("%s names %s %d times in its declaration, want once:\n%s", template, from, n, declared)
		}
		own := strings.NewReplacer("  "+from+":\n", "  "+w.function+":\n", "SamResourceId: "+from, "SamResourceId: "+w.function)
		functions.WriteString(own.Replace(declared))
		variables[w.function] = w.environment
	}
	copied = filepath.Join(filepath.Dir(template), "worlds.yaml") // paths in the template are relative to its folder
	must.Write(t, copied, before+"\nResources:\n"+functions.String()+resources)
	return copied, environmentFile(t, variables)
}

// environmentFile writes a file for --env-vars: the variables by the name of the function, or of
// all functions as Parameters.
func environmentFile(t *testing.T, variables map[string]map[string]string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "env.json")
	text, err := json.Marshal(variables)
	if err == nil {
		err = os.WriteFile(file, text, 0o600)
	}
	must.Succeed(t, err)
	return file
}
