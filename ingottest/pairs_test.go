package ingottest_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/slow"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
)

// pair is a pipeline in which orders have two features.
type pair [2]string

func (p pair) has(name string) bool { return p[0] == name || p[1] == name }

func (p pair) text() string {
	with := func(name, text string) string {
		if p.has(name) {
			return text
		}
		return ""
	}
	return `ingot: 1
epoch: 1
type: "{type}"
` + with("arrays", "batches: true\n") + `events:
  account: {id: "{account}", at: "{at}", key: {pk: "A#{account}", sk: "-"}}
  order:
    id: "{order}"
    at: "{at}"
    key: {pk: "O#{order}", sk: "-"}
    retain: 30d
` + with("expires", "    expires: \"{until}\"\n") + with("atomic", "    atomic: true\n") +
		with("offload", "    offload: {over: 1KB}\n") +
		with("requires", "    requires: [{type: account, key: {account: \"{account}\"}}]\n") + with("migration", "    migrated: old\n") +
		with("atomic", `  line:
    part: {of: order, each: lines, with: [order]}
    id: "{order}#{sku}"
    key: {pk: "O#{order}", sk: "L#{sku}"}
`) + with("state", `  status:
    part: {of: order, with: [account, status]}
    id: "{account}"
    key: {pk: "A#{account}", sk: STATUS}
    mode: latest
    revision: "{@at}"
`) + `aggregates:
  spent:
    since: 1
    onExpire: subtract
    by: {account: "{account}", shop: "{shop}"}
` + with("list", "    rank: {value: cents, within: [account]}\n") + `    from: {order: {values: {cents: sum cents}}}
patterns:
  list: {total: spent` + with("list", ", top: 10") + "}\n"
}

// TestPairs pairs what is beside facts with the forms in which facts come and go: in arrays, in a
// transaction, with their payloads in a bucket, erased, expired, and after a migration. Each pair
// holds under every fault, or the declaration is refused.
func TestPairs(t *testing.T) {
	for _, feature := range []string{"state", "requires", "expires", "list"} {
		for _, beside := range []string{"arrays", "atomic", "offload", "erase", "expiry", "migration"} {
			p := pair{feature, beside}
			t.Run(feature+" and "+beside, func(t *testing.T) {
				plan, err := pipeline.Load(fstest.MapFS{"p.yaml": {Data: []byte(p.text())}}, "p.yaml")
				if feature == "state" && beside == "migration" {
					must.Fail(t, err, "order is migrated, and the copies of its rows cannot have parts with mode latest")
					return
				}
				must.Succeed(t, err)
				if slow.All() {
					ingottest.EveryFault(t, ingottest.Config{Pipeline: plan}, p.lives)
				} else {
					p.lives(t, ingottest.New(t, ingottest.Config{Pipeline: plan}))
				}
			})
		}
	}
}

// lives sends an account and two of its orders, the newer one first and all of it twice. Then the
// newer order goes.
func (p pair) lives(t *testing.T, w *ingottest.World) {
	begin := w.Now().Truncate(time.Second)
	if p.has("migration") {
		turned(t, w)
	}
	order := func(id string, hours, cents int) string {
		at := begin.Add(time.Duration(hours) * time.Hour)
		until := at.Add(48 * time.Hour).Format(time.RFC3339)
		return fmt.Sprintf(`{"type":"order","order":%q,"account":"a","shop":%q,"at":%q,"until":%q,"status":"s%s","cents":%d,`+
			`"lines":[{"sku":"x"}],"note":%q}`, id, "shop"+id, at.Format(time.RFC3339), until, id, cents,
			strings.Repeat("n", 1200))
	}
	messages := []string{order("2", 5, 700), order("1", 0, 30), `{"type":"account","account":"a","at":"2026-01-01T00:00:00Z"}`}
	if p.has("arrays") {
		messages = []string{"[" + strings.Join(messages, ",") + "]"}
	}
	w.Send(messages...)
	w.Send(messages...)
	w.Drain()
	p.holds(t, w, "s2", 30, 700)
	switch {
	case p.has("erase"):
		_, err := repair.Of(w.Store()).Erase(t.Context(), event.Key{PK: "O#2", SK: "-"})
		must.Succeed(t, err)
		w.Drain()
		w.Send(messages...)
		w.Drain()
		p.holds(t, w, "s1", 30, 0) // the older order, sent again, brings its state back
	case p.has("expiry") || p.has("expires"):
		w.Advance(begin.Add(50 * time.Hour).Sub(w.Now()))
		if !p.has("expires") {
			w.Advance(28 * 24 * time.Hour)
		}
		w.Sweep() // the older order alone
		w.Drain()
		w.Send(messages...)
		w.Drain()
		p.holds(t, w, "s2", 0, 700)
	}
	w.Verify()
}

// holds compares what is stored and counted. A value of 0 says that its order is gone.
func (p pair) holds(t *testing.T, w *ingottest.World, status string, cents ...int) {
	t.Helper()
	want, got := map[string]bool{"A#a / -": true}, map[string]bool{}
	if p.has("state") && status != "" {
		want["A#a / STATUS"] = true
	}
	list := ""
	for i := len(cents) - 1; i >= 0; i-- {
		id := fmt.Sprint(i + 1)
		total := w.Total("spent", map[string]string{"account": "a", "shop": "shop" + id}, time.Time{})
		if cents[i] == 0 {
			must.Equal(t, total.N, 0, id)
			continue
		}
		must.Equal(t, fmt.Sprint(total.N, total.Values["cents"]), fmt.Sprint(1, " ", cents[i]), id)
		list += "shop" + id + " "
		want["O#"+id+" / -"] = true
		if p.has("atomic") {
			want["O#"+id+" / L#x"] = true
		}
	}
	for _, item := range w.Items() {
		got[item.Key.String()] = true
		if item.Type == "status" {
			must.Say(t, item.Data, `"status":"`+status+`"`)
		}
	}
	must.Match(t, got, want)
	if !p.has("list") {
		return
	}
	shops := ""
	for _, total := range w.Read("list", query.Ask{Values: map[string][]string{"account": {"a"}}}).Totals {
		shops += total.By["shop"] + " "
	}
	must.Equal(t, shops, list)
}

// turned says that the orders of a table that has moved are stored here.
func turned(t *testing.T, w *ingottest.World) {
	item := rows.KeyImage(rows.ControlKey("old"))
	item[rows.StatePrefix+"order"] = rows.Text(rows.New)
	_, err := w.DynamoDB().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String(ingottest.AggregatesTable), Item: item})
	must.Succeed(t, err)
}
