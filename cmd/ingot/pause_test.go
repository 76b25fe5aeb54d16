package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/cmd/ingot/operate"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/lambda/mappings"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/target/targettest"
)

// While the ingest function of ingot dev is paused, events wait. Afterwards none is missing.
func TestPauseOfDev(t *testing.T) {
	w := newDevWorld(t)
	w.send(0, oldSale)
	got := w.run(0, "pause --local")
	if !strings.Contains(got.errors, "ingot: to resume: ingot resume --local\n") || !strings.HasPrefix(got.out, "ingest  Disabled\n") {
		t.Errorf("%s%s", got.out, got.errors)
	}
	write(t, "sale.ndjson", strings.Replace(newSale, `"id":1`, `"id":9`, 1)+"\n")
	sent := w.run(exitUnsure, "send sale.ndjson --local --wait --wait-limit 1ms")
	must.Equal(t, strings.Count(sent.errors, "ingot: the ingest function is paused, by "), 1)
	must.Say(t, sent.errors, ": the events wait in the queue. To resume: ingot resume --local\n")
	w.run(exitUnsure, "send --sample sale --local --wait --wait-limit 1ms --output json").prints(t, `"paused": true`)
	must.Equal(t, w.queued(), 2) // the paused function does not work
	must.Equal(t, w.quarantined(), 0)
	var out operate.Paused
	w.run(0, "pause --local --output json").reads(t, &out)
	if len(out.Mappings) != 1 || out.Mappings[0].By == "" || out.Mappings[0].At.IsZero() || !out.Drained {
		t.Errorf("%+v", out)
	}
	got = w.run(0, "resume --local")
	must.Say(t, got.errors, "was off, by "+out.Mappings[0].By)
	must.Equal(t, got.out, "ingest  Enabled\n")
	w.send(0)
	w.run(exitFine, "send --sample sale --local --wait").lacks(t, "paused")

	w.run(2, "pause streams --local")
	w.run(0, "pause streams --yes --local").prints(t, "resume before ", "ingot resume streams --local")
	w.run(0, "resume streams --local")
	w.run(2, "pause both --local")
}

// cloud is a stack that CloudFormation knows, with Lambda's mappings and without CloudWatch.
func cloud(t *testing.T, switches *mappings.Server) (env map[string]string) {
	t.Helper()
	e := embedded.New(embedded.Config{Intercept: iam.Judged(nil)})
	s, err := stack.New(t.Context(), e, stack.Config{})
	must.Succeed(t, err)
	judges := roles{of: func() *target.Target {
		return &target.Target{EventsTable: stack.Events, AggregatesTable: stack.Aggregates, QueueURL: s.Queue, QuarantineURL: s.Quarantine,
			DeadLetterURL: s.DeadLetters, IngestLogs: "ingest-logs", StreamsLogs: "streams-logs"}
	}}
	c := &targettest.Cloud{Engine: e, Account: "123456789012", Region: "us-east-1", Mappings: switches, Role: judges.role,
		Stacks: []targettest.KnownStack{{Name: "shop", Protected: true, Outputs: map[string]string{
			"EventsTableName": stack.Events, "AggregatesTableName": stack.Aggregates, "QueueUrl": s.Queue,
			"QuarantineQueueUrl": s.Quarantine, "DeadLetterQueueUrl": s.DeadLetters,
			"ArchiveBucketName": stack.Bucket, "IngestFunctionName": "shop-ingest", "StreamsFunctionName": "shop-streams",
			"PiiKeySecret": "secret", "IngestLogGroup": "ingest-logs", "StreamsLogGroup": "streams-logs"}}}}
	server := httptest.NewServer(c)
	t.Cleanup(func() { server.Close(); judges.fail(t.Error) })
	return map[string]string{"AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_REGION": "us-east-1",
		"INGOT_ENDPOINT_URL": server.URL}
}

// halt stops one of the functions of the ingot dev behind a stack, or lets it go on. The stack's
// own mappings do not show that.
func (w *living) halt(t *testing.T, mapping string, stopped bool) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPut, w.Local().Endpoint+mappings.Prefixes[0]+
		"/00000000-0000-4000-8000-00000000000"+mapping, strings.NewReader(fmt.Sprintf(`{"Enabled":%t}`, !stopped)))
	must.Succeed(t, err)
	answer, err := http.DefaultClient.Do(r)
	if err != nil || answer.StatusCode/100 != 2 {
		t.Fatalf("%v: %v", answer, err)
	}
	answer.Body.Close()
}

// Nothing calls the streams function, as under reserved concurrency 0. Its mapping is enabled, and
// no metric says anything. No command takes that for read to its end: none of them calls a total
// damaged, alters one or deletes an object. Once the stream goes on, all is well.
func TestASilentStreamIsNotReadToItsEnd(t *testing.T) {
	w := hashedShop(t, "erase")
	w.switched()
	for i := range 4 { // the first is counted, and the total is 3 short afterwards
		write(t, "one.ndjson", strings.Replace(oneOrder, `"o-1"`, fmt.Sprintf(`"late-%d"`, i), 1)+"\n")
		w.tool(t, called{"send one.ndjson --wait", exitFine})
		if i == 0 {
			w.tool(t, called{"pause", exitFine})
			w.switched()
			w.halt(t, "2", true)
		}
	}
	w.readied(t, "erase") // ingest is off
	stray := "note/" + strings.Repeat("0", 64) + "/" + strings.Repeat("1", 64) + ".json"
	put := &s3.PutObjectInput{Bucket: aws.String(stack.Payloads), Key: &stray, Body: strings.NewReader("{}")}
	_, err := w.Engine().S3().PutObject(t.Context(), put)
	must.Succeed(t, err)
	const unproven, throttled = "it is not proven that the function streams has done everything that was written before ",
		"; Lambda has throttled 0 calls of it in the last 15 minutes"
	for line, c := range map[string]struct {
		code int
		want []string
	}{
		"pause":                               {exitUnsure, []string{"ingest is off, but it is not known", unproven, throttled}},
		"verify --twice --patience 1m":        {exitUnsure, []string{"nobody can tell", unproven, "is Enabled"}},
		"rebuild orders_daily --patience 1m":  {exitUnsure, []string{"it is not known whether the stream has counted it", unproven}},
		"rebuild mend --patience 1m --yes":    {exitDifference, []string{"not mended: orders_daily", unproven, "0 totals mended"}},
		"verify --twice --patience 0":         {exitUnsure, []string{"nobody can tell", unproven}},
		"rebuild mend --patience 0 --yes":     {exitDifference, []string{"not mended: orders_daily", unproven, "0 totals mended"}},
		"erase --payloads --yes --stack shop": {exitRefused, []string{"may not be archived yet", unproven}},
	} {
		clock := quickClock()
		_ = clock.Sleep(t.Context(), 26*time.Hour) // no object is young
		w.fail(t.Error)
		w.forget()
		waited, sleep := time.Duration(0), clock.Sleep
		clock.Sleep = func(ctx context.Context, d time.Duration) error {
			waited += d
			return sleep(ctx, d)
		}
		o := toolIn(t.Context(), appOf(cli.IO{Clock: clock}), line+" --stack shop")
		all := o.out + o.errors
		if o.code != c.code || strings.Contains(o.out, "damaged:") || strings.Contains(all, "\nmended:") {
			t.Errorf("ingot %s: exit code %d\n%s", line, o.code, all)
		}
		if command := strings.Fields(line)[0]; !w.uses(command, "cloudwatch:GetMetricStatistics") {
			t.Errorf("ingot %s does not ask for throttles", line)
		}
		must.Equal(t, waited < time.Second, strings.Contains(line, "--patience 0"), line, waited)
		must.Say(t, all, c.want...)
	}
	if _, err := w.Engine().S3().GetObject(t.Context(), &s3.GetObjectInput{Bucket: put.Bucket, Key: &stray}); err != nil {
		t.Errorf("a payload is gone: %v", err)
	}
	w.halt(t, "2", false)
	w.tool(t, called{"pause", exitFine})
	w.tool(t, called{"verify", exitFine})
	w.tool(t, called{"erase --payloads --yes", exitFine})
	if _, err := w.Engine().S3().GetObject(t.Context(), &s3.GetObjectInput{Bucket: put.Bucket, Key: &stray}); err == nil {
		t.Error("an object of no event is left")
	}
}

// Somebody who may not ask whether the function is paused can wait all the same, and is told once
// what is not known.
func TestSendWithoutTheRightToSeePauses(t *testing.T) {
	switches := mappings.New(mappings.Mapping{UUID: "u-1", Function: "shop-ingest", Source: "arn:queue"})
	switches.Refuse = func(string) string { return "AccessDeniedException" }
	dir := t.TempDir()
	must.Succeed(t, writeShop(dir))
	w := lives(t, dir, time.Now)
	t.Chdir(dir)
	w.halt(t, "1", true)
	w.cloud.Mappings = switches
	got := pipedWith(t, w.environment(), "", "send --sample order.placed --wait --wait-limit 0 --stack shop")
	got.says(t, exitUnsure).prints(t, "1 not stored yet")
	must.Equal(t, strings.Count(got.errors, "it is not known whether the ingest function is paused: "), 1)
}

// A pause that is not permitted ends with exit code 4, and names what is not. A stack without the
// mapping is said to be without it.
func TestPauseOfAStack(t *testing.T) {
	switches := mappings.New(mappings.Mapping{UUID: "u-1", Function: "shop-ingest", Source: "arn:queue"},
		mappings.Mapping{UUID: "u-2", Function: "shop-streams", Source: "arn:stream"})
	env := cloud(t, switches)
	setenv(t, env)
	t.Chdir(t.TempDir())
	switches.Refuse = func(action string) string {
		return map[string]string{"UpdateEventSourceMapping": "AccessDeniedException"}[action]
	}
	got := pipedWith(t, env, "", "pause --stack shop --endpoint-url", env["INGOT_ENDPOINT_URL"])
	got.says(t, exitCredentials, "lambda:UpdateEventSourceMapping",
		"ingot: to resume: ingot resume --stack shop --endpoint-url http://",
		"this changes stack shop, account 123456789012, region us-east-1")
	switches.Refuse = nil
	got = pipedWith(t, env, "", "resume streams --stack shop --endpoint-url", env["INGOT_ENDPOINT_URL"]).says(t, 0)
	must.Equal(t, got.out, "shop-streams  Enabled\n")
}
