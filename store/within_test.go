package store_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/verify"
)

// boards declares an aggregate with a list for each level, and one whose lists have two values.
func boards(s *setup) {
	s.Aggregates = nil
	adds(&s.Spec, `
patterns: {board: {total: board, top: 1000}, areas: {total: areas, top: 1000}}
aggregates:
  board:
    {since: 1, by: {merchant: "{merchant}", level: "{level}", area: "{area | lower}"}, onExpire: subtract, window: 24h,
     rank: {value: revenue, shards: 3, within: [level]}, from: {order: {values: {orders: count, revenue: sum cents}}}}
  areas:
    {since: 1, by: {merchant: "{merchant}", level: "{level}", area: "{area | lower}"},
     rank: {value: most, within: [level, area]}, from: {order: {values: {most: max cents, last: newest id}}}}
`)
}

// placed is what the naive twin knows of one total.
type placed struct {
	merchant, level, area  string
	revenue, most, n, kept int
}

func (p placed) String() string { return fmt.Sprint(p.merchant, " ", p.level, " ", p.area) }

// A list holds the totals that share its values, and no other, in the order of a plain sort. Totals
// that count nothing any more are left out.
func TestListsAgainstASort(t *testing.T) {
	for _, c := range bothWays {
		for seed := range uint64(8) {
			t.Run(fmt.Sprint(c, " ", seed), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, 2))
				w := newWorld(t, boards, counting(c))
				w.start()
				twins := map[string]*placed{}
				w.churn(5, 3, rng, func(sequence int64) *event.Item {
					return w.item(`"type":"order"`, fmt.Sprintf(`"id":"%d"`, sequence), fmt.Sprintf(`"merchant":"m%d"`, rng.IntN(4)),
						fmt.Sprintf(`"level":"%d"`, rng.IntN(12)), fmt.Sprintf(`"area":%q`, []string{"a", "A#1", "1"}[rng.IntN(3)]),
						fmt.Sprintf(`"cents":%d`, rng.IntN(9)-2), `"at":"2099-03-01T10:00:00Z"`)
				}, func(item *event.Item, sign int) { place(twins, item, sign) })
				w.Clock.Pass(10 * time.Second) // now the index has caught up
				for level := range 13 {        // of the last nobody has a total
					own := map[string][]string{"level": {fmt.Sprint(level)}}
					w.compareList(t, "board", own, twins, func(p *placed) (int, bool) {
						return p.revenue, p.n > 0 && p.level == own["level"][0]
					})
					for _, area := range []string{"A", "a#1", "1"} {
						both := map[string][]string{"level": own["level"], "area": {area}}
						w.compareList(t, "areas", both, twins, func(p *placed) (int, bool) {
							return p.most, p.kept > 0 && p.level == own["level"][0] && p.area == strings.ToLower(area)
						})
					}
				}
				if report, err := verify.Totals(context.Background(), w.plan, w.store, w.Clock.Now()); err != nil || report.Totals == 0 {
					t.Errorf("%+v %v", report, err)
				}
			})
		}
	}
}

func place(twins map[string]*placed, item *event.Item, sign int) {
	var body struct {
		Merchant, Level, Area string
		Cents                 int
	}
	if err := json.Unmarshal([]byte(item.Data), &body); err != nil {
		panic(err)
	}
	p := placed{merchant: body.Merchant, level: body.Level, area: strings.ToLower(body.Area)}
	if twins[p.String()] == nil {
		twins[p.String()] = &p
	}
	own := twins[p.String()]
	own.revenue, own.n = own.revenue+sign*body.Cents, own.n+sign
	if sign > 0 {
		if own.kept == 0 || body.Cents > own.most {
			own.most = body.Cents
		}
		own.kept++ // what expires stays counted
	}
}

// compareList asks the pattern, and compares the answer with a sort of the twins that are in the
// list.
func (w *world) compareList(t *testing.T, name string, values map[string][]string, twins map[string]*placed,
	in func(*placed) (value int, is bool)) {
	t.Helper()
	type line struct {
		of    string
		value int
	}
	var want []line
	for of, p := range twins {
		if value, is := in(p); is {
			want = append(want, line{of, value})
		}
	}
	slices.SortFunc(want, func(a, b line) int { return cmp.Or(b.value-a.value, strings.Compare(a.of, b.of)) })
	ask := query.Ask{Values: values, From: "2099-03-01"}
	if name == "areas" {
		ask.From = ""
	}
	page, err := w.query().Read(context.Background(), name, ask)
	def, _ := w.plan.Definition(name)
	var got []line
	for _, total := range page.Totals {
		v, _ := total.Values[def.Rank.Value].Int64()
		got = append(got, line{placed{merchant: total.By["merchant"], level: total.By["level"], area: total.By["area"]}.String(), int(v)})
	}
	slices.SortStableFunc(got, func(a, b line) int { return cmp.Or(b.value-a.value, strings.Compare(a.of, b.of)) })
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s of %v: %v, want %v: %v", name, values, got, want, err)
	}
	if !slices.IsSortedFunc(page.Totals, func(a, b query.Total) int { return b.Values[def.Rank.Value].Cmp(a.Values[def.Rank.Value]) }) {
		t.Errorf("%s of %v is not in order: %v", name, values, page.Totals)
	}
}

// One aggregate keeps a board for each of 200 levels. A board costs what check says of its pattern,
// however many levels there are.
func TestBoardOfEachLevel(t *testing.T) {
	const levels, players, top = 200, 5, 3
	w := newWorld(t, boards)
	w.start()
	sequence := 0
	for player := range players {
		var items events
		for level := range levels {
			sequence++
			items = append(items, w.item(`"type":"order"`, fmt.Sprintf(`"id":"%d","merchant":"p%d","level":"%d","area":"a","cents":%d`,
				sequence, player, level, 100*level+player), `"at":"2099-03-01T10:00:00Z"`))
		}
		w.counts(int64(sequence-levels+1), items...)
	}
	w.Clock.Pass(10 * time.Second)
	for level := range levels {
		meter := w.meter()
		totals, err := w.query().Top(context.Background(), "board", map[string]string{"level": fmt.Sprint(level)}, epoch, top)
		used := meter()
		var got []string
		for _, total := range totals {
			got = append(got, fmt.Sprint(total.By["merchant"], " ", total.Values["revenue"]))
		}
		want := fmt.Sprintf("p4 %d, p3 %d, p2 %d", 100*level+4, 100*level+3, 100*level+2)
		if strings.Join(got, ", ") != want || err != nil {
			t.Fatalf("level %d: %q, want %q: %v", level, got, want, err)
		}
		// The head, three shards of at most half a unit, and the totals themselves.
		if requests := used.Requests["GetItem"] + used.Requests["Query"] + used.Requests["BatchGetItem"]; requests != 1+3+1 ||
			used.ReadUnits() > 1+3*0.5+top {
			t.Fatalf("level %d: %d requests of %v and %v read units", level, requests, used.Requests, used.ReadUnits())
		}
	}
}

func TestTopWithinRefuses(t *testing.T) {
	w := newWorld(t, boards)
	for _, c := range map[string]struct {
		within map[string]string
		want   string
	}{
		"nothing":     {nil, "ranking of areas: aggregate areas is ranked within (area, level), and 0 values were given"},
		"another":     {map[string]string{"level": "1", "merchant": "m"}, "areas is ranked within area, and no value was given for it"},
		"never made":  {map[string]string{"level": "1", "area": "A"}, "ranking of areas: area: "},
		"empty":       {map[string]string{"level": "", "area": "a"}, "areas is ranked within level, and no value was given for it"},
		"all of them": {map[string]string{"level": "1", "area": "a", "merchant": "m"}, "and 3 values were given"},
	} {
		_, err := w.query().Top(context.Background(), "areas", c.within, epoch, 1)
		must.Fail(t, err, c.want)
	}
	for name, c := range map[string]struct {
		values map[string][]string
		want   string
	}{
		"nothing": {nil, "board needs level; write level=VALUE"},
		"another": {map[string][]string{"level": {"1"}, "merchant": {"m"}},
			"the rank of board is not within merchant; its parameters are level"},
		"two of them": {map[string][]string{"level": {"1", "2"}},
			"board reads the top of one list, and these values choose 2; ask for one at a time"},
	} {
		ask := query.Ask{Values: c.values}
		_, err := w.query().Read(context.Background(), "board", ask)
		if _, _, explained := w.query().Explain("board", ask); err == nil || !strings.Contains(err.Error(), c.want) ||
			explained == nil {
			t.Errorf("%s: %v, and explained %v; want %s", name, err, explained, c.want)
		}
	}
	plain := newWorld(t, ranked)
	_, err := query.Of(plain.store).Top(context.Background(), "leaders", map[string]string{"merchant": "m"}, epoch, 1)
	must.Fail(t, err, "ranking of leaders: its rank is of all totals, and no values choose among them; leave them out")
	// Nothing is counted yet, and that is said.
	top, err := w.query().Top(context.Background(), "board", map[string]string{"level": "1"}, epoch, 3)
	if err != nil || len(top) != 1 || !top[0].Missing || top[0].By["level"] != "1" {
		t.Errorf("%+v %v", top, err)
	}
}
