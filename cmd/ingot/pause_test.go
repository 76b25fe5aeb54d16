package main

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/operate"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/target/targettest"
)

// While the ingest function of ingot dev is paused, events wait. Afterwards none is missing.
func TestPauseOfDev(t *testing.T) {
	w := newDevWorld(t)
	w.send(0, oldSale)
	got := w.run(0, "pause", "--local")
	if !strings.Contains(got.errors, "ingot: to resume: ingot resume --local\n") || !strings.HasPrefix(got.out, "ingest  Disabled\n") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	write(t, "sale.ndjson", strings.Replace(newSale, `"id":1`, `"id":9`, 1)+"\n")
	sent := w.run(exitUntold, "send", "sale.ndjson", "--local", "--wait", "--wait-limit", "1ms")
	if n := strings.Count(sent.errors, "ingot: the ingest function is paused, by "); n != 1 ||
		!strings.Contains(sent.errors, ": the events wait in the queue. To resume: ingot resume --local\n") {
		t.Errorf("%s", sent.errors)
	}
	if sent := w.run(exitUntold, "send", "--sample", "sale", "--local", "--wait", "--wait-limit", "1ms", "--output",
		"json"); !strings.Contains(sent.out, `"paused": true`) {
		t.Errorf("%s%s", sent.out, sent.errors)
	}
	if w.waiting(w.dev.Stack().Queue) != 2 || w.waiting(w.dev.Stack().Quarantine) != 0 {
		t.Error("the paused function works")
	}
	var out operate.Paused
	if err := json.Unmarshal([]byte(w.run(0, "pause", "--local", "--output", "json").out), &out); err != nil || len(out.Mappings) != 1 ||
		out.Mappings[0].By == "" || out.Mappings[0].At.IsZero() || !out.Drained {
		t.Errorf("%+v %v", out, err)
	}
	if got := w.run(0, "resume", "--local"); got.out != "ingest  Enabled\n" ||
		!strings.Contains(got.errors, "was off, by "+out.Mappings[0].By) {
		t.Errorf("%s%s", got.out, got.errors)
	}
	w.send(0)
	if sent := w.run(exitFine, "send", "--sample", "sale", "--local", "--wait"); strings.Contains(sent.errors, "paused") {
		t.Errorf("%s", sent.errors)
	}

	w.run(2, "pause", "streams", "--local")
	if got := w.run(0, "pause", "streams", "--yes", "--local"); !strings.Contains(got.out, "resume before ") ||
		!strings.Contains(got.out, "ingot resume streams --local") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	w.run(0, "resume", "streams", "--local")
	w.run(2, "pause", "both", "--local")
}

// cloud is a stack that CloudFormation knows, with Lambda's mappings and without CloudWatch.
func cloud(t *testing.T, switches *mappings.Server) (env map[string]string) {
	t.Helper()
	e := embedded.New(embedded.Config{})
	s, err := stack.New(t.Context(), e, stack.Config{})
	if err != nil {
		t.Fatal(err)
	}
	rest := &targettest.Cloud{Engine: e, Account: "123456789012", Region: "us-east-1",
		Stacks: []targettest.Stack{{Name: "shop", Protected: true, Outputs: map[string]string{
			"EventsTableName": stack.Events, "AggregatesTableName": stack.Aggregates, "QueueUrl": s.Queue,
			"QuarantineQueueUrl": s.Quarantine, "DeadLetterQueueUrl": s.DeadLetters,
			"ArchiveBucketName": stack.Bucket, "IngestFunctionName": "shop-ingest", "StreamsFunctionName": "shop-streams",
			"PiiKeySecret": "secret", "IngestLogGroup": "ingest-logs", "StreamsLogGroup": "streams-logs"}}}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if mappings.Answers(r) {
			switches.ServeHTTP(w, r)
			return
		}
		rest.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1",
		"INGOT_ENDPOINT_URL": server.URL}
}

// Whoever may not ask whether the function is paused can wait all the same, and is told once what
// is not known.
func TestSendWithoutTheRightToSeePauses(t *testing.T) {
	switches := mappings.New(mappings.Mapping{UUID: "u-1", Function: "shop-ingest", Source: "arn:queue"})
	switches.Refuse = func(string) string { return "AccessDeniedException" }
	dir := t.TempDir()
	if err := writeShop(dir); err != nil {
		t.Fatal(err)
	}
	w, err := live(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	off, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.Local().Endpoint+
		"/2015-03-31/event-source-mappings/00000000-0000-4000-8000-000000000001", strings.NewReader(`{"Enabled":false}`))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(off)
	if err != nil || answer.StatusCode/100 != 2 {
		t.Fatalf("%v: %v", answer, err)
	}
	answer.Body.Close()
	w.cloud.Mappings = switches
	for name, value := range w.environment() {
		t.Setenv(name, value)
	}
	t.Chdir(dir)
	got := pipedWith(t, w.environment(), "", "send", "--sample", "order.placed", "--wait", "--wait-limit", "0", "--stack", "shop")
	if got.code != exitUntold || strings.Count(got.errors, "it is not known whether the ingest function is paused: ") != 1 ||
		!strings.Contains(got.out, "1 not stored yet") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.errors)
	}
}

// A pause that is not permitted ends with exit code 4, and names what is not. A stack without the
// mapping is said to be without it.
func TestPauseOfAStack(t *testing.T) {
	switches := mappings.New(mappings.Mapping{UUID: "u-1", Function: "shop-ingest", Source: "arn:queue"},
		mappings.Mapping{UUID: "u-2", Function: "shop-streams", Source: "arn:stream"})
	env := cloud(t, switches)
	for name, value := range env {
		t.Setenv(name, value)
	}
	t.Chdir(t.TempDir())
	switches.Refuse = func(action string) string {
		return map[string]string{"UpdateEventSourceMapping": "AccessDeniedException"}[action]
	}
	got := pipedWith(t, env, "", "pause", "--stack", "shop", "--endpoint-url", env["INGOT_ENDPOINT_URL"])
	if got.code != exitCredentials || !strings.Contains(got.errors, "lambda:UpdateEventSourceMapping") ||
		!strings.Contains(got.errors, "ingot: to resume: ingot resume --stack shop --endpoint-url http://") ||
		!strings.Contains(got.errors, "this changes stack shop, account 123456789012, region us-east-1") {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.errors)
	}
	switches.Refuse = nil
	if got := pipedWith(t, env, "", "resume", "streams", "--stack", "shop", "--endpoint-url", env["INGOT_ENDPOINT_URL"]); got.code != 0 ||
		got.out != "shop-streams  Enabled\n" {
		t.Errorf("exit code %d: %s%s", got.code, got.out, got.errors)
	}
}
