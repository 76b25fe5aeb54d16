package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/cmd/ingot/read"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/local/wire"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

const shopSecret = "the secret of the sample shop"

// shopTables makes the tables of the sample shop, and serves them to the tool. It returns their
// store, and a function that runs a command on them.
func shopTables(t *testing.T, engine *embedded.Engine) (p *pipeline.Pipeline, st *store.Store, ingot func(stdin, line string) ran) {
	t.Helper()
	p, err := pipeline.Load(os.DirFS("../.."), sampleshop.Pipeline, pipeline.Secret([]byte(shopSecret)))
	must.Succeed(t, err)
	_, err = stack.New(t.Context(), engine, stack.Config{Indexes: p.Indexes()})
	must.Succeed(t, err)
	st, err = store.New(tables.Config{Client: engine.DynamoDB(), Pipeline: p, Events: stack.Events, Aggregates: stack.Aggregates})
	must.Succeed(t, err)
	server := httptest.NewServer(wire.New(engine))
	t.Cleanup(server.Close)
	setenv(t, map[string]string{"AWS_ENDPOINT_URL": server.URL, "AWS_REGION": "us-east-1", "AWS_ACCESS_KEY_ID": "k",
		"AWS_SECRET_ACCESS_KEY": "s", "AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none"})
	env := map[string]string{"INGOT_TABLE": stack.Events, "INGOT_AGGREGATES_TABLE": stack.Aggregates, "INGOT_PII_KEY": shopSecret}
	return p, st, func(stdin, line string) ran {
		command, rest, _ := strings.Cut(line, " ")
		return pipedWith(t, env, stdin, command+" --pipeline ../../"+sampleshop.Pipeline+" "+rest)
	}
}

// shopWithOrders serves tables with orders of the sample shop. It returns a function that asks
// them.
func shopWithOrders(t *testing.T, orders int) (query func(stdin, line string) ran) {
	t.Helper()
	p, st, ingot := shopTables(t, embedded.New(embedded.Config{}))
	var items []*event.Item
	noon := time.Now().UTC().Truncate(24 * time.Hour).Add(-12 * time.Hour)
	for i := range orders {
		body := fmt.Sprintf(
			`{"type":"order.placed","merchant_id":"m-1","order_id":"o-%d","customer_id":"c-1","placed_at":%q,"currency":"EUR","total_cents":%d,"product_id":"p","quantity":1,"status":"a\u001bb"}`,
			i, noon.Add(time.Duration(i)*time.Minute).Format(time.RFC3339), 100*i)
		item, err := p.Plan(envelope.Message{Body: body})
		must.Succeed(t, err)
		items = append(items, item)
	}
	results, _ := st.Put(t.Context(), items)
	for _, r := range results {
		if r.Verdict != event.Inserted {
			t.Fatalf("%+v", r)
		}
	}
	return func(stdin, line string) ran { return ingot(stdin, "query "+line) }
}

// TestQueryPages reads all orders of a day page by page, and compares them with all on one page.
func TestQueryPages(t *testing.T) {
	ingot := shopWithOrders(t, 60)
	day := time.Now().UTC().AddDate(0, 0, -1).Format("2006-01-02")
	var ids []string
	token := ""
	for page := 0; ; page++ {
		line := "orders_of_day --limit 7 --output json at=" + day
		if token != "" {
			line += " --page " + token
		}
		o := ingot("", line)
		var got read.Answer
		if o.says(t, exitFine).reads(t, &got); page > 20 {
			t.Fatalf("%+v", o)
		}
		for _, i := range got.Items {
			ids = append(ids, i.ID)
			if strings.Contains(string(i.Data), "c-1") {
				t.Fatalf("personal data is shown: %s", i.Data)
			}
		}
		if token = got.Next; token == "" {
			break
		}
	}
	for i, id := range ids {
		if want := fmt.Sprintf("m-1#o-%d", i); id != want {
			t.Fatalf("item %d is %s, not %s", i, id, want)
		}
	}
	must.Equal(t, len(ids), 60)
	var got read.Answer
	ingot("", "orders_of_day --limit 7 --output json at="+day).reads(t, &got)
	altered := []byte(got.Next)
	altered[40] ^= 1
	for _, c := range map[string]struct{ line, says string }{
		"altered": {"orders_of_day at=" + day + " --page " + string(altered),
			"the page token is damaged or not one of this tool's"},
		"foreign": {"orders_of_day at=2026-03-01 --page " + got.Next, "the page token belongs to another question"},
		"other pattern": {"order_story merchant_id=m-1 order_id=o-1 --page " + got.Next,
			"the page token belongs to another question"},
	} {
		ingot("", c.line).says(t, exitUsage, c.says)
	}
}

func TestQuery(t *testing.T) {
	ingot := shopWithOrders(t, 3)
	for _, c := range map[string]struct {
		stdin  string
		line   string
		code   int
		stdout string
		stderr string
	}{
		"text": {"", "order_story merchant_id=m-1 order_id=o-1 --consistent", exitFine,
			"read 1, returned 1: 1 request, 1 read unit\n", ""},
		"control": {"", "order_story merchant_id=m-1 order_id=o-1", exitFine, `"status":"a\u001bb"`, ""},
		"masked":  {"", "order_story merchant_id=m-1 order_id=o-1", exitFine, `"customer_id":"***"`, ""},
		"revealed": {"", "order_story merchant_id=m-1 order_id=o-1 --reveal", exitFine,
			`"customer_id":"c-1"`, ""},
		"from stdin": {"c-1\n", "customer_orders customer_id=@-", exitFine, "read 3, returned 3", ""},
		"more":       {"", "customer_orders customer_id=c-1 --limit 2", exitFine, "there is more: add --page ", ""},
		"nothing": {"", "order_story merchant_id=m-2 order_id=o-1,o-2", exitFine, "read 0, returned 0: 2 requests",
			""},
		"hash and %": {"", "order_story merchant_id=m#1 order_id=50% --explain", exitFine,
			`PK = "ORDER#m%231#50%25"`, ""},
		"totals":         {"", "merchants_day merchant_id=m-1 currency=EUR", exitFine, "has no head", ""},
		"totals in JSON": {"", "merchants_day merchant_id=m-1 currency=EUR --output json", exitFine, `"by": {`, ""},
		"explain":        {"", "orders_of_day at=2026-03-01 --explain", exitFine, "8 requests; none was sent", ""},
		"missing": {"", "order_story merchant_id=m-1", exitUsage, "",
			"order_story needs order_id; write order_id=VALUE"},
		"misspelled": {"", "order_story merchant_id=m-1 orderid=o-1", exitUsage, "",
			"has no parameter orderid; write order_id"},
		"no such pattern": {"", "order_stroy", exitUsage, "", "there is no pattern order_stroy; the nearest is order_story"},
		"no pattern":      {"", "", exitUsage, "", "say which pattern; the pipeline has customer_orders"},
		"not a field":     {"", "order_story m-1", exitUsage, "", `"m-1": write FIELD=VALUE, such as order_id=o-1`},
		"too many": {"", "orders_of_day --from 2026-01-01 --to 2027-01-01", exitUsage, "",
			"covers 2920 partitions, and one question reads at most 1000"},
		"too few units": {"", "orders_of_day at=2026-03-01 --max-units 2", exitUsage, "",
			"8 partitions are read side by side, which takes at least 4 read units, and 2 may be spent"},
		"consistent": {"", "orders_of_day at=2026-03-01 --consistent", exitUsage, "",
			"an index has no consistent reads"},
		"limit":          {"", "orders_of_day at=2026-03-01 --limit 0", exitUsage, "", "--limit 0: give 1 to 10000"},
		"two from stdin": {"x", "order_story merchant_id=@- order_id=@-", exitUsage, "", "standard input cannot give both"},
	} {
		o := ingot(c.stdin, c.line).says(t, c.code, c.stderr)
		o.prints(t, c.stdout).lacks(t, "\x1b")
	}
}

// TestExplainedQuestionNeedsNoStack explains a question in a folder with a pipeline.yaml, with
// nothing in the environment.
func TestExplainedQuestionNeedsNoStack(t *testing.T) {
	text := content(t, "../../"+sampleshop.Pipeline)
	t.Chdir(t.TempDir())
	write(t, "pipeline.yaml", text)
	ask := func(code int, line string) ran { return tool(t, "query --explain "+line).says(t, code) }
	o := ask(exitFine, "order_story merchant_id=m-1 order_id=o-1").prints(t, `PK = "ORDER#m-1#o-1"`, "1 request; none was sent")
	must.Equal(t, o.errors, "")
	o = ask(exitFine, "customer_orders customer_id=c-1").prints(t, "none was sent")
	must.Say(t, o.errors, "INGOT_PII_KEY is not set")
	ask(exitUsage, "order_story merchant_id=m-1 order_id=o-1 --stack shop")
}

// Several values that make whole keys are read by one request, and it is said which of them nothing
// is stored under.
func TestQueryOfManyKeys(t *testing.T) {
	ingot := shopWithOrders(t, 3)
	file := altered(t, "../../"+sampleshop.Pipeline, "\npatterns:\n", "\npatterns:\n  one_order: {read: [order.placed]}\n")
	ask := func(more string) ran {
		return ingot("", "one_order merchant_id=m-1 order_id=o-2,o-9,o-0 --pipeline "+file+" "+more)
	}
	ask("").prints(t, `nothing is stored under PK = "ORDER#m-1#o-9"`, "read 2, returned 2: 1 request, 1.5 read units\n")
	var answer read.Answer
	r := ask("--output json")
	r.reads(t, &answer)
	if len(answer.Items) != 2 || answer.Items[0].ID != "m-1#o-2" || answer.Items[1].ID != "m-1#o-0" || len(answer.Missing) != 1 ||
		answer.Requests != 1 {
		t.Errorf("%s%s", r.out, r.errors)
	}
	ask("--explain").prints(t, "BatchGetItem ", `, PK = "ORDER#`, "1 request; none was sent")
}
