package pipeline

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// The canonical text does not change with layout, comments, member order, quoting or spelling.
func TestDefinitionTextIsStable(t *testing.T) {
	const another = `aggregates:
  daily:
    retain: 9600h          # 400d
    spread: 4
    from:
      placed:
        values:
          revenue: "sum  total"
          orders: count
          largest: 'max ["total"]'
        where: >-
          (total > 0.0)
    window: 24h
    by:
      shop: "{ shop }"
    since: 2
  live:
    since: 1
    from:
      moved: {values: {parcels: count, weight: sum weight}}
    onExpire: subtract
`
	want := mustLoad(t, base)
	got := mustLoad(t, base[:strings.Index(base, "aggregates:")]+another)
	for i, def := range want.Definitions() {
		if other := got.Definitions()[i]; other.Text != def.Text {
			t.Errorf("%s\nis not\n%s", other.Text, def.Text)
		}
	}
	const text = `{"by":{"shop":"{shop}"},"from":{"placed":{"values":{"largest":"max total","orders":"count","revenue":"sum total"},"where":"total > 0"}},"name":"daily","onExpire":"keep","retain":34560000,"since":2,"spread":4,"window":86400}`
	if def, _ := want.Definition("daily"); def.Text != text {
		t.Errorf("the canonical text, which heads store, has changed:\n%s", def.Text)
	}
	const plainest = `{"by":{},"from":{"moved":{"values":{"parcels":"count","weight":"sum weight"}}},"name":"live","onExpire":"subtract","retain":0,"since":1,"spread":1,"window":0}`
	if def, _ := want.Definition("live"); def.Text != plainest {
		t.Errorf("the canonical text, which heads store, has changed:\n%s", def.Text)
	}
}

// Months and years have texts of their own, which no number of days can have.
func TestDefinitionOfCalendarWindows(t *testing.T) {
	for window, want := range map[string]string{"1mo": `"window":"1mo"}`, "1y": `"window":"1y"}`, "31d": `"window":2678400}`,
		"366d": `"window":31622400}`} {
		p := mustLoad(t, strings.Replace(base, "window: 1d", "window: "+window, 1))
		def, _ := p.Definition("daily")
		if !strings.HasSuffix(def.Text, want) {
			t.Errorf("%s: %s", window, def.Text)
		}
		sameAgain(t, p)
	}
}

// sameAgain reports definitions that change when a pipeline is described and compiled again.
func sameAgain(t *testing.T, p *Pipeline) {
	t.Helper()
	again, err := New(p.Describe().Spec)
	must.Succeed(t, err)
	for i, def := range p.Definitions() {
		must.Equal(t, again.Definitions()[i].Text, def.Text)
	}
}

// The check value of the secret is golden, because it is stored in heads. It exists if totals are
// grouped by hashes, and each generation has a different one.
func TestKeyCheck(t *testing.T) {
	spec := func(since int64, id, by string) Spec {
		return Spec{Ingot: 1, Epoch: 2,
			Events: map[string]EventSpec{"order": {ID: id, At: "{at}", Key: KeySpec{PK: "O#{id}", SK: "{id | hmac}"}}}, Type: "order",
			Aggregates: map[string]AggregateSpec{"x": {Since: since, By: map[string]string{"who": by},
				From: map[string]FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}}}
	}
	for _, c := range []struct {
		since                  int64
		id, by, secret, expect string
	}{
		{1, "{id}", "{who | hmac}", "secret", hexMAC("secret", "G#x#1")},
		{2, "{id}", "{who | hmac}", "secret", hexMAC("secret", "G#x#2")},
		{1, "{id}", "{who | hmac}", "other", hexMAC("other", "G#x#1")},
		{1, "{id | hmac}", "{@id | first:2}", "secret", hexMAC("secret", "G#x#1")},
		{1, "{id | hmac}", "{who}", "secret", ""},
		{1, "{id}", "{@id}", "secret", ""},
	} {
		p, err := New(spec(c.since, c.id, c.by), Secret([]byte(c.secret)))
		must.Succeed(t, err)
		if d, _ := p.Definition("x"); d.KeyCheck != c.expect {
			t.Errorf("%+v: %q", c, d.KeyCheck)
		}
	}
}

func hexMAC(secret, text string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(text))
	return fmt.Sprintf("%.8x", mac.Sum(nil))
}
