package tally

import (
	"go/parser"
	"go/token"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestImports shows that the tally shares no code with what it judges. It imports only the standard
// library, not aggregate and not store.
func TestImports(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		checked++
		for _, i := range parsed.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
				t.Errorf("%s imports %s", f.Name(), path)
			}
		}
	}
	if checked < 3 {
		t.Errorf("only %d files checked", checked)
	}
}

func add(t *testing.T, to *Tally, bodies ...string) {
	t.Helper()
	for _, body := range bodies {
		if err := to.Add(body); err != nil {
			t.Fatal(err)
		}
	}
}

func holds(t *testing.T, in *Tally, total Total, name, want string) {
	t.Helper()
	n, ok := new(big.Rat).SetString(want)
	if !ok {
		t.Fatal(want)
	}
	if got := in.Totals[total][name]; got == nil || got.Cmp(n) != 0 {
		t.Errorf("%v: %s is %v, want %s", total, name, got, want)
	}
}

func TestEarthquakes(t *testing.T) {
	q := Earthquakes()
	add(t, q,
		`{"properties":{"net":"ci","time":1517443199999,"mag":-0.5}}`,  // 31 January, the last millisecond
		`{"properties":{"net":"ci","time":1517443200000,"mag":2.30}}`,  // 1 February
		`{"properties":{"net":"ci","time":1517443200001,"mag":1e0}}`,   // 1 February
		`{"properties":{"net":"ci","time":1517443200002,"mag":null}}`,  // without a magnitude
		`{"properties":{"net":"uw","time":1517443200000,"mag":-0.75}}`) // another network
	holds(t, q, Total{"network_day", "ci", "2018-01-31T00:00:00Z"}, "largest", "-0.5")
	holds(t, q, Total{"network_day", "ci", "2018-02-01T00:00:00Z"}, "largest", "2.3")
	holds(t, q, Total{"network_day", "ci", "2018-02-01T00:00:00Z"}, "count", "2")
	holds(t, q, Total{"network_day", "uw", "2018-02-01T00:00:00Z"}, "largest", "-0.75")
	holds(t, q, Total{"network_recent", "ci", "-"}, "count", "4")
	if q.Events != 5 || len(q.Totals) != 5 || !q.Subtracted["network_recent"] {
		t.Errorf("%d events, %d totals, subtracted %v", q.Events, len(q.Totals), q.Subtracted)
	}
	if err := q.Add(`{"properties":[]}`); err == nil {
		t.Error("an array passes for properties")
	}
}

func TestOrders(t *testing.T) {
	o := Orders([]byte("key"))
	add(t, o,
		`{"type":"order.placed","merchant_id":"acme","customer_id":"c","product_id":"p","currency":"EUR","quantity":2,"total_cents":9007199254740993,"placed_at":"2024-03-04T23:59:59Z"}`,
		`{"type":"order.placed","merchant_id":"acme","customer_id":"c","product_id":"p","currency":"EUR","quantity":0,"total_cents":1,"placed_at":"2024-03-05T00:30:00+01:00"}`,
		`{"type":"order.paid","merchant_id":"acme","currency":"EUR","amount_cents":500,"status":"failed","paid_at":"2024-03-04T12:00:00Z"}`,
		`{"type":"order.paid","merchant_id":"acme","currency":"EUR","amount_cents":500,"status":"captured","paid_at":"2024-03-04T12:01:00Z"}`,
		`{"type":"order.refunded","merchant_id":"acme","customer_id":"c","currency":"EUR","refund_cents":700,"refunded_at":"2024-03-04T13:00:00Z"}`)
	daily := Total{"merchant_daily", "EUR#acme", "2024-03-04T00:00:00Z"}
	holds(t, o, daily, "orders", "2")
	holds(t, o, daily, "ordered", "9007199254740994")
	holds(t, o, daily, "largest", "9007199254740993")
	holds(t, o, daily, "revenue", "-200")
	holds(t, o, daily, "refunds", "1")
	holds(t, o, Total{"product_totals", "p", "-"}, "orders", "1")
	holds(t, o, Total{"product_totals", "p", "-"}, "units", "2")
	// This is HMAC-SHA256 of "c" under "key".
	customer := Total{"customer_recent", "EUR#3ce40a0edc208379991d07674df03ea00875cb3810336bc550a7f37741591d0a", "-"}
	holds(t, o, customer, "spent", "9007199254740294")
	if err := o.Add(`{"type":"order.lost"}`); err == nil {
		t.Error("an unknown type passes")
	}
}
