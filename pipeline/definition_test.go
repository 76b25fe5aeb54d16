package pipeline

import (
	"strings"
	"testing"
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
