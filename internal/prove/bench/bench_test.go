package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/local/lambda/runtimeapi"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/prove/peers/dynoxide"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// isolated undoes, at the end of the test, what the bench sets for the AWS SDK.
func isolated(t *testing.T) {
	for _, name := range []string{"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
		"AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"} {
		t.Setenv(name, "")
	}
}

// TestOrders shows that the bench sends what it says it sends.
func TestOrders(t *testing.T) {
	seen := map[string]int{} // the batch of each body
	var within, across int
	all := batches(orders(newEvents, duplicates))
	for n, batch := range all {
		if len(batch.Records) > batchSize || (n < len(all)-1 && len(batch.Records) != batchSize) {
			t.Errorf("batch %d has %d messages", n, len(batch.Records))
		}
		for _, m := range batch.Records {
			first, again := seen[m.Body]
			switch {
			case len(m.Body) != bodyBytes:
				t.Fatalf("an order of %d bytes: %s", len(m.Body), m.Body)
			case !again:
				seen[m.Body] = n
			case first == n:
				within++
			default:
				across++
			}
		}
	}
	if len(seen) != newEvents || within+across != duplicates || across < duplicates/2 || within == 0 {
		t.Errorf("%d new events, %d duplicates in a batch and %d of an earlier one", len(seen), within, across)
	}
}

// TestRecord shows that the floor sends what ingest sends: INSERTs in batches of 25, with the body
// of each event among them.
func TestRecord(t *testing.T) {
	isolated(t)
	bodies, err := record(t.Context(), batches(orders(2*batchSize, 0)))
	must.Succeed(t, err)
	must.Equal(t, len(bodies), 2*batchSize/25)
	for _, body := range bodies {
		var request struct {
			Statements []struct {
				Statement  string
				Parameters []map[string]string
			}
		}
		if err := json.Unmarshal(body, &request); err != nil || len(request.Statements) != 25 {
			t.Fatalf("%d statements: %v", len(request.Statements), err)
		}
		for _, s := range request.Statements {
			if !strings.HasPrefix(s.Statement, `INSERT INTO "events" VALUE {'PK': ?`) || len(s.Parameters) != 9 {
				t.Fatalf("%s with %d parameters", s.Statement, len(s.Parameters))
			}
		}
	}
}

func TestIngestCountsWhatItSends(t *testing.T) {
	isolated(t)
	r := newRecorder()
	defer r.Close()
	got, err := ingest(t.Context(), r.URL, batches(orders(2*batchSize, 0)))
	must.Succeed(t, err)
	if got.events != 2*batchSize || got.requests != float64(len(r.bodies)) || got.units != 2*batchSize || got.took <= 0 {
		t.Errorf("%+v after %d requests", got, len(r.bodies))
	}
}

// TestIngestThatFails shows that a function that returns messages is an error. It has stored less
// than it was given, so its time means nothing.
func TestIngestThatFails(t *testing.T) {
	isolated(t)
	r := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		const answer = `{"__type":"ResourceNotFoundException"}`
		w.Header().Set("X-Amz-Crc32", strconv.FormatUint(uint64(crc32.ChecksumIEEE([]byte(answer))), 10))
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, answer)
	}))
	defer r.Close()
	if _, err := ingest(t.Context(), r.URL, []events.SQSEvent{{Records: []events.SQSMessage{message(1, order(1))}}}); err == nil {
		t.Error("no error")
	}
}

// TestStreamBatches shows that each stream batch touches all aggregates, and is in ascending order.
func TestStreamBatches(t *testing.T) {
	p, err := pipeline.Load(files, "orders.yaml")
	must.Succeed(t, err)
	var items []image
	for i := range 2*changesABatch + 1 {
		item, err := p.Plan(envelope.Message{Body: order(i)})
		must.Succeed(t, err)
		img := image{}
		for name, text := range map[string]string{"PK": item.Key.PK, "SK": item.Key.SK, "type": item.Type, "id": item.ID, "data": item.Data,
			"at": keys.FormatTime(item.At)} {
			v := img[name]
			v.S = text
			img[name] = v
		}
		digest, epoch := img["digest"], img["epoch"]
		digest.B, epoch.N = base64.StdEncoding.EncodeToString(item.Digest[:]), strconv.FormatInt(item.Epoch, 10)
		img["digest"], img["epoch"] = digest, epoch
		items = append(items, img)
	}
	all, err := streamBatches(items, changesABatch, "INSERT")
	if err != nil || len(all) != 3 {
		t.Fatalf("%d batches, %v", len(all), err)
	}
	changes := 0
	for n, batch := range all[:2] {
		var e struct{ Records []json.RawMessage }
		must.Succeed(t, json.Unmarshal(batch, &e))
		met := map[string]bool{}
		for _, raw := range e.Records {
			doc, err := event.ParseDocument(string(raw))
			must.Succeed(t, err)
			c, err := store.ReadRecord(doc.Root(), "shard")
			must.Succeed(t, err)
			changes++
			must.Equal(t, c.Sequence.String(), strings.Repeat("0", 21-len(strconv.Itoa(changes)))+strconv.Itoa(changes), changes)
			for _, contribution := range p.Contributions(c.New).List {
				met[contribution.By[0]] = true
			}
		}
		if len(met) != merchants || len(e.Records) != changesABatch {
			t.Errorf("batch %d: %d records onto %d aggregates", n, len(e.Records), len(met))
		}
	}
}

func TestLargestBatch(t *testing.T) {
	batch, err := largestBatch()
	must.Succeed(t, err)
	var e events.SQSEvent
	if err := json.Unmarshal(batch, &e); err != nil || len(e.Records) != largest {
		t.Fatalf("%d messages, %v", len(e.Records), err)
	}
	p, err := pipeline.Load(files, "orders.yaml")
	must.Succeed(t, err)
	ids := map[string]bool{}
	for _, m := range e.Records {
		item, err := p.Plan(envelope.Message{Body: m.Body})
		must.Succeed(t, err)
		ids[item.ID] = true
	}
	if len(ids) != largest || len(batch) > runtimeapi.MaxPayload {
		t.Errorf("%d events in %d bytes", len(ids), len(batch))
	}
}

// TestDelay shows that the delay changes only the time.
func TestDelay(t *testing.T) {
	behind := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Target", r.Header.Get("X-Amz-Target")+" at "+r.Host)
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(bytes.ToUpper(body))
	}))
	defer behind.Close()
	proxy := newDelayed(behind.URL)
	defer proxy.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, proxy.URL, strings.NewReader("body"))
	must.Succeed(t, err)
	request.Header.Set("X-Amz-Target", "PutItem")
	began := time.Now()
	answer, err := http.DefaultClient.Do(request)
	must.Succeed(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || string(body) != "BODY" || answer.StatusCode != http.StatusTeapot ||
		answer.Header.Get("X-Target") != "PutItem at "+strings.TrimPrefix(behind.URL, "http://") { // ingot dev answers to no other host
		t.Errorf("%s %q %v %v", answer.Status, body, answer.Header, err)
	}
	if took := time.Since(began); took < delay {
		t.Errorf("it took %v", took)
	}
}

func TestFiguresAndTargets(t *testing.T) {
	a := &series{runs: []run{{events: 100, took: time.Second}, {events: 300, took: time.Second}, {events: 900, took: time.Second}}}
	b := &series{runs: []run{{events: 50, took: time.Second}, {events: 100, took: time.Second}, {events: 9, took: time.Second}}}
	// The pairs give 2, 3 and 100. (The ratio of the medians would be 6.)
	must.Equal(t, ratio(a, b, run.rate), 3)
	if least, median, most := a.spread(run.rate); least != 100 || median != 300 || most != 900 {
		t.Errorf("%v %v %v", least, median, most)
	}
	if _, median, _ := sorted([]float64{4, 1, 3, 2}); median != 2.5 {
		t.Errorf("median %v", median)
	}
	var out bytes.Buffer
	j := targets{out: &out}
	j.atLeast("speed", 0.8, 0.8)
	j.atLeast("pace", 0.79, 0.8)
	j.atMost("cost", 0.05, 0.05)
	j.atMost("price", 0.0512, 0.05)
	if want := "pace: 0.79, at least 0.8|price: 0.051, at most 0.05"; strings.Join(j.missed, "|") != want ||
		strings.Count(out.String(), "kept") != 2 || strings.Count(out.String(), "MISSED") != 2 {
		t.Errorf("missed %q\n%s", j.missed, out.String())
	}
}

func TestCommand(t *testing.T) {
	for name, tt := range map[string]struct {
		args []string
		code int
		says string
	}{
		"help":         {[]string{"-h"}, 0, "Usage: go run ./internal/prove/bench"},
		"wrong part":   {[]string{"-only", "ingets"}, 2, `no part "ingets"; the parts are plan,ingest`},
		"few events":   {[]string{"-events", "9"}, 2, "-events of at least 100"},
		"large":        {[]string{"-only", "large", "-events", "2000"}, 0, "  2000 events: 1."},
		"no turns":     {[]string{"-n", "0"}, 2, "-n of at least 1"},
		"no flag":      {[]string{"-x"}, 2, "-x"},
		"arguments":    {[]string{"x"}, 2, "no arguments"},
		"no emulator":  {[]string{"-only", "ingest,totals"}, 0, "ingest: left out, because it needs the DynamoDB emulator"},
		"not checked":  {[]string{"-check", "-only", "totals"}, 1, "totals: not measured"},
		"not emulator": {[]string{"-emulator", "/nonexistent", "-only", "totals"}, 1, "start the emulator"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if code := command(context.Background(), tt.args, &out, &out); code != tt.code || !strings.Contains(out.String(), tt.says) {
				t.Errorf("exit code %d:\n%s", code, out.String())
			}
		})
	}
}

// TestManyTotals shows that each change of the many section has totals of its own in every
// aggregate of many.yaml.
func TestManyTotals(t *testing.T) {
	p, err := pipeline.Load(files, "many.yaml")
	must.Succeed(t, err)
	touched := map[string]bool{}
	for i := range 100 {
		item, err := p.Plan(envelope.Message{Body: order(i)})
		must.Succeed(t, err)
		for _, c := range p.Contributions(item).List {
			touched[lanes.Key(c.Def, 0, c.By, c.Window).String()] = true
		}
	}
	if len(touched) != 100*manyAggregates || len(p.Definitions()) != manyAggregates {
		t.Errorf("100 changes touch %d totals of %d aggregates", len(touched), len(p.Definitions()))
	}
}

// TestUnitsABatch shows that a histogram and a sketch cost what the engine counts, and more than a
// count: the more different numbers there are, the larger the total.
func TestUnitsABatch(t *testing.T) {
	few, many := make([]int64, 3*changesABatch), make([]int64, 30*changesABatch)
	for i := range many {
		many[i] = int64(i) * int64(i)
	}
	units := func(value string, numbers []int64) float64 {
		t.Helper()
		got, err := unitsABatch(t.Context(), value, numbers)
		must.Succeed(t, err)
		return got
	}
	for _, value := range []string{"count", "histogram number", "distinct number"} {
		must.Equal(t, units(value, few), 1, value)
	}
	count, histogram, distinct := units("count", many), units("histogram number", many), units("distinct number", many)
	if count != 1 || histogram < 1.5 || distinct < 3 || distinct > 4 {
		t.Errorf("many numbers: %v, %v and %v units", count, histogram, distinct)
	}
}

// TestOnTheEmulator shows that the parts with the emulator measure what they say, and keep the
// targets that no other work of the machine changes.
func TestOnTheEmulator(t *testing.T) {
	slow.Test(t, "the parts of the bench that run on the emulator")
	isolated(t)
	binary, err := dynoxide.Fetch(context.Background())
	if err != nil {
		endpoint.Absent(t, err)
	}
	var out bytes.Buffer
	if code := command(context.Background(), []string{"-emulator", binary, "-only", "ingest,totals", "-n", "1"}, &out, &out); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, out.String())
	}
	exact := regexp.MustCompile(`(?m)^  (kept  |MISSED)  (write units|requests) .*$`).FindAllString(out.String(), -1)
	if len(exact) < 3 {
		t.Errorf("%d targets of requests and write units:\n%s", len(exact), out.String())
	}
	for _, line := range exact {
		if strings.Contains(line, "MISSED") {
			t.Error(line)
		}
	}
}
