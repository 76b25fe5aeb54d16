package check

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// hotFile has a total that all events share, and one for each shop.
const hotFile = `ingot: 1
epoch: 1
type: order
events:
  order: {id: "{n}", at: "{t}", key: {pk: "O#{n}", sk: "-"}}
aggregates:
  all:
    since: 1%s
    from:
      order: {values: {orders: count, cents: sum cents}}
  shops:
    since: 1
    by: {shop: "{shop}"}%s
    from:
      order: {values: {orders: count}}
`

// hotTotalsAt returns the warnings of totals that get too much, and holds them to the advice: with
// it, there is no such warning, and no mistake.
func hotTotalsAt(t *testing.T, all, shops string, rate float64, partitions int, lines string) (got []string) {
	t.Helper()
	check := func(all, shops string) (found []rules.Finding) {
		in := Input{Pipeline: textfile.File{Name: "p.yaml", Text: fmt.Appendf(nil, hotFile, all, shops)}, Rate: rate,
			Partitions: partitions}
		if lines != "" {
			p, err := in.Pipeline.Load(checkOnly)
			if err != nil {
				t.Fatal(err)
			}
			if in.Events, err = (&sample.Sampler{Pipeline: p, Now: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)}).Read("e.ndjson",
				strings.NewReader(lines)); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range run(t, in).Findings {
			switch {
			case f.Severity == rules.Mistake:
				t.Fatalf("%s", f)
			case f.Rule == "hot-total":
				found = append(found, f)
			}
		}
		return found
	}
	for _, f := range check(all, shops) {
		got = append(got, f.What)
		spread := regexp.MustCompile(`^spread: \d+`).FindString(f.Instead)
		if spread == "" {
			got[len(got)-1] += "; " + f.Instead
			continue
		}
		a, s := all, shops
		if strings.Contains(f.What, "shops") {
			s += "\n    " + spread
		} else {
			a += "\n    " + spread
		}
		for _, left := range check(a, s) {
			if left.Line == f.Line {
				t.Errorf("with %s: %s", spread, left)
			}
		}
		got[len(got)-1] += "; " + spread
	}
	return got
}

// A total that gets more updates than an item takes is a warning, if the rate is given. The figures
// of those that the stream moves are those of docs/scale.md.
func TestHotTotals(t *testing.T) {
	var sampled strings.Builder
	for n := range 100 {
		shop := "small"
		if n%10 == 0 {
			shop = fmt.Sprint(n)
		}
		fmt.Fprintf(&sampled, `{"n":%d,"t":"2026-02-01T00:00:00Z","cents":5,"shop":%q}`+"\n", n, shop)
	}
	const put, floor = "\n    movedBy: put", "\n    movedBy: put\n    atLeast: {cents: 0}"
	for name, c := range map[string]struct {
		all, shops string
		rate       float64
		partitions int
		lines      string
		want       []string
	}{
		"no rate":     {"", "", 0, 100, "", nil},
		"few updates": {"", "", 4000, 4, "", nil},
		"many partitions": {"", "", 100_000, 100, "", []string{"all events of one moment that count in all move one total: at 100000 " +
			"changes a second one item gets about 100 updates of 69 write units each; it takes 1,000 units; spread: 3"}},
		"by put, folded": {put, "", 4000, 4, "", nil},
		"by put": {put, "", 50_000, 50, "", []string{"all events of one moment that count in all move one total: at 50000 " +
			"changes a second one item gets about 550 updates of 2 write units each, in transactions that exclude each other; it takes " +
			"about 200 of them and 1,000 units; spread: 4"}},
		"by put, a floor": {floor, "", 50_000, 50, "", []string{"all events of one moment that count in all move one total: at 50000 " +
			"changes a second one item gets about 550 updates of 2 write units each, in transactions that exclude each other; it takes " +
			"about 200 of them and 1,000 units; one more field in by:, so that fewer events share a total, and where it is deployed " +
			"already a higher epoch as since"}},
		"in a sample": {"\n    spread: 100", put, 50_000, 50, sampled.String(), []string{
			"90 of 100 changes in e.ndjson move one total of shops: at 50000 changes a second one item gets about 500 updates of 2 write " +
				"units each, in transactions that exclude each other; it takes about 200 of them and 1,000 units; spread: 4"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := hotTotalsAt(t, c.all, c.shops, c.rate, c.partitions, c.lines)
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
		})
	}
}
