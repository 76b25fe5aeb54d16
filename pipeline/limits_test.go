package pipeline

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/plan/planner"
)

// manyAggregates returns a file of n aggregates over both types of base.
func manyAggregates(n int) string {
	var b strings.Builder
	b.WriteString(base[:strings.Index(base, "aggregates:")])
	b.WriteString("aggregates:\n")
	for i := range n {
		fmt.Fprintf(&b, "  a%d: {since: 1, from: {placed: {values: {orders: count}}}}\n", i)
	}
	return b.String()
}

func TestLimitsOfAFile(t *testing.T) {
	values := func(n int, path string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf("v%d: max %s", i, path))
		}
		return strings.Replace(base, "orders: count, revenue: sum total, largest: max total", strings.Join(list, ", "), 1)
	}
	long := strings.Repeat("p", 700)
	named := func(n int) string { return strings.Replace(base, "orders: count", strings.Repeat("o", n)+": count", 1) }
	// A type with one index has room for 7,765 characters. 30 names of 251 characters take 7,740,
	// and the last name takes the rest.
	wide := func(last int) string {
		var list []string
		for i := range 30 {
			list = append(list, fmt.Sprintf("%s%02d: total", strings.Repeat("w", 249), i))
		}
		list = append(list, strings.Repeat("w", last)+": total")
		return strings.Replace(base, "status: status", strings.Join(list, ", "), 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"99 aggregates", manyAggregates(99), ""},
		{"100 aggregates", manyAggregates(100), "p.yaml:21:3: there are 100 aggregates, and the streams function begins with one " +
			"transaction over all of them, of at most 100 items; write at most 99, and the others over another pair of tables"},
		{"50 values", values(50, "total"), ""},
		{"51 values", values(51, "total"), "p.yaml:26:7: there are 51 values, and one update writes all of them, in an expression of at " +
			"most 4 KB and 300 operators; write at most 50, and the others in another aggregate with the same by"},
		{"a definition of 28 KB", values(40, long), ""},
		{"a definition of 35 KB", values(50, long), "p.yaml:22:5: the definition of daily takes 35"},
		{"a name of 255 bytes", named(255), ""},
		{"names that fill a statement", wide(18), ""},
		{"names that overfill a statement", wide(19), "p.yaml:11:17: the names of the 31 attributes of placed make an INSERT statement " +
			"of up to 8193 characters, and DynamoDB takes 8192; write fewer or shorter names, which take 1 characters less (each one " +
			"takes 7 more than its own)"},
		{"a name of 256 bytes", named(256), "p.yaml:26:43: the name has 256 bytes; write at most 255"},
	} {
		_, err := loadText(c.text)
		var ms Mistakes
		switch {
		case c.want == "":
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		case !errors.As(err, &ms) || len(ms) != 1 || !strings.HasPrefix(err.Error(), c.want):
			t.Errorf("%s:\n got %.300v\nwant %s", c.name, err, c.want)
		}
	}
}

// The room that the documents state for attributes is the room of a type without indexes.
func TestDocumentedRoomForAttributes(t *testing.T) {
	room := maxStatement - statementFrame + len(", ")
	for _, name := range itemform.OwnAttributes {
		room -= statementName + len(name)
	}
	text, err := os.ReadFile("../docs/pipeline.md")
	if want := fmt.Sprintf("| %d,%03d characters together", room/1000, room%1000); err != nil || !strings.Contains(string(text), want) {
		t.Errorf("docs/pipeline.md does not say %q: %v", want, err)
	}
}

// Under insert, one change touches one total of each aggregate. Under latest it touches two if a
// newer revision can be in another total than the older one.
func TestTotalsOfOneChange(t *testing.T) {
	aggregates := func(n int, of, member string) string {
		var b strings.Builder
		b.WriteString(base[:strings.Index(base, "aggregates:")])
		b.WriteString("aggregates:\n")
		for i := range n {
			fmt.Fprintf(&b, "  a%d: {since: 1, onExpire: subtract, %sfrom: {%s: {values: {parcels: count}}}}\n", i, member, of)
		}
		return b.String()
	}
	for _, c := range []struct {
		name, text, typ string
		want            int
	}{
		{"insert", aggregates(60, "placed", "window: 1d, by: {shop: '{shop}'}, "), "placed", 60},
		{"latest, one total", aggregates(60, "moved", ""), "moved", 60},
		{"latest, by the id", aggregates(60, "moved", "by: {parcel: '{parcel | first:2}'}, "), "moved", 60},
		{"latest, by the type and @id", aggregates(60, "moved", "by: {kind: '{@type}', id: '{@id}'}, "), "moved", 60},
		{"latest, by what a revision changes", aggregates(60, "moved", "by: {parcel: '{parcel}', depot: '{depot}'}, "), "moved", 120},
		{"latest, by time", aggregates(60, "moved", "window: 1d, "), "moved", 120},
		{"latest, by time that the id shows", strings.NewReplacer(`id: "{parcel}"`, `id: "{parcel}#{moved_at}"`, `pk: "PARCEL#{parcel}"`,
			`pk: "PARCEL#{@id}"`).Replace(aggregates(60, "moved", "window: 1d, ")), "moved", 60},
		{"latest, by the digest", aggregates(60, "moved", "by: {d: '{@digest | first:2}'}, "), "moved", 120},
		{"latest, 49 aggregates", aggregates(49, "moved", "window: 1d, "), "moved", 98},
	} {
		p := mustLoad(t, c.text)
		if got := p.plan.Types[c.typ].Touches(); got != c.want {
			t.Errorf("%s: a change touches %d totals, want %d", c.name, got, c.want)
		}
		err := p.FitsReceipts()
		if (err != nil) != (c.want > 99) {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil && err.Error() != "one change of event type moved can touch 120 totals of 60 aggregates, because a newer revision "+
			"can move an event from one total to another of the same aggregate, and under receipts a change and its totals are one "+
			"transaction, of at most 99 totals; let fewer aggregates count it, or count by marks" {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// The largest item that is planned leaves room for the largest epoch. Otherwise a touch pass could
// not raise its stamp.
func TestLargestItemTakesTheHighestStamp(t *testing.T) {
	p := mustLoad(t, base)
	plan := func(note int) (*event.Item, error) {
		return p.Plan(
			envelope.Message{Body: `{"type":"placed","shop":"s","order":"1","placed_at":"2024-03-05T15:07:31Z","total":1,"note":"` +
				strings.Repeat("x", note) + `"}`})
	}
	most := sort.Search(event.MaxItem, func(note int) bool { _, err := plan(note); return err != nil }) - 1
	item, err := plan(most)
	if err != nil {
		t.Fatal(err)
	}
	if item.Epoch = event.MaxEpoch; item.Size() > event.MaxItem || item.Size() < event.MaxItem-planner.StampRoom {
		t.Errorf("%d bytes under the highest epoch", item.Size())
	}
	var refusal *event.Refusal
	if _, err := plan(most + 1); !errors.As(err, &refusal) || refusal.Reason != event.ItemTooLarge ||
		!strings.Contains(refusal.Detail, "DynamoDB stores 409600, of which 32 are left for its epoch to grow") {
		t.Errorf("%v", err)
	}
}

// Durations declared in Go have the same limits as those of a file. Otherwise their sums could
// overflow.
func TestDurationsInGo(t *testing.T) {
	spec := func(retain, window, keep time.Duration) Spec {
		return Spec{Ingot: 1, Epoch: 1, Type: "order",
			Events: map[string]EventSpec{"order": {ID: "{id}", At: "{at}", Key: KeySpec{PK: "O#{id}", SK: "O"}, Retain: retain}},
			Aggregates: map[string]AggregateSpec{"x": {Since: 1, Window: window, Retain: keep,
				From: map[string]FromSpec{"order": {Values: map[string]string{"orders": "count"}}}}}}
	}
	years := 365 * lifetime.Day
	if _, err := New(spec(100*years, 200*years, 200*years)); err != nil {
		t.Errorf("200 years: %v", err)
	}
	for name, s := range map[string]Spec{
		"events.order.retain": spec(201*years, lifetime.Day, 0),
		"aggregates.x.window": spec(lifetime.Day, 201*years, 0),
		"aggregates.x.retain": spec(lifetime.Day, lifetime.Day, 290*years),
	} {
		_, err := New(s)
		must.Fail(t, err, name+": a duration of ", "is longer than 200 years; write at most 73000d")
	}
}
