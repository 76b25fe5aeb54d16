package demo

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// sample returns a made-up summary that shows every part of the text.
func sample() *Summary {
	return &Summary{
		Summary: SummaryVersion, Seed: 9, Counting: "receipts",
		Data: DataPart{Name: "orders", About: "SYNTHETIC", Events: 2100, Copies: 3, From: "2024-03-04T00:00:00Z",
			To: "2024-03-31T00:00:00Z"},
		Trouble: []Trouble{
			{Title: "message sent twice", Injected: 1234, Became: "1,200 Duplicate, 34 Inserted"},
			{Title: "what never happened", Became: "nothing"},
			{Title: "request throttled", Injected: 1, Became: "sent again"},
		},
		Deliveries: Deliveries{Sent: 3334, Received: 4000, Unjudged: 1, Verdicts: map[string]int{"Inserted": 2099, "Updated": 1, "Stale": 2,
			"Expired": 3, "Duplicate": 1800, "Retry": 94}},
		Changes: Changes{Received: 2101, Repeated: 1, Updates: 50, Dropped: 1},
		Kept:    Kept{Items: 2100, Unheard: 1, Quarantine: 1},
		Totals: []Total{
			{Aggregate: "daily", By: []ByValue{{"currency", "EUR"}, {"customer", "7f6e5ada23097f6e5ada2309"}},
				Window: "2024-03-04T00:00:00Z", label: "2024-03-04",
				Values: []TotalValue{{"orders", "44", "67", "54"}, {"revenue", "-1234567.89", "1234567", "-0.5"}}},
			{Aggregate: "daily", By: []ByValue{{"currency", "USD"}, {"customer", "x"}}, Window: "2024-03-05T00:00:00Z", label: "2024-03-05",
				Values: []TotalValue{{"orders", "1", "1", "1"}}},
			{Aggregate: "everything", By: []ByValue{}, Values: []TotalValue{{"orders", "1", "100000000000000000000", "1e40"}}},
		},
		Cost: Cost{Counted: "counted by the embedded engine by DynamoDB's rules", Events: TableCost{0.1, 1.234, 0},
			Totals: TableCost{0.456, 0.5, 0.01}},
		Flags: strings.Fields("a b c d e f g h i j k l"),
		Checks: []Check{{Name: "verify", About: "this", Compared: 3},
			{Name: "tally", About: "that other thing", Compared: 1000, Differences: strings.Fields("1 2 3 4 5 6 7 8 9 10 11 12")}},
		Expiry: &Expiry{Clock: "2024-07-01T00:00:00Z", Swept: 2100, Archived: 1, Objects: 1,
			Checks: []Check{{Name: "archive", About: "one for each", Compared: 2100,
				Differences: []string{"2100 items were swept and 1 is kept"}}}},
	}
}

func TestText(t *testing.T) {
	var got bytes.Buffer
	must.Succeed(t, sample().Text(&got, 1))
	golden.File(t, "testdata/summary.txt", got.String())
}

// TestWindowLabels shows that a window is named by its day alone only if it is one day or several.
func TestWindowLabels(t *testing.T) {
	at := must.Time("2024-03-04T00:00:00Z").Unix()
	for _, c := range []struct {
		window time.Duration
		want   string
	}{{time.Hour, "2024-03-04T00:00:00Z"}, {24 * time.Hour, "2024-03-04"}, {7 * 24 * time.Hour, "2024-03-04"},
		{36 * time.Hour, "2024-03-04T00:00:00Z"}} {
		totals := map[slot]*stored{{name: "readings", window: at}: {def: &aggregate.Definition{Name: "readings", Window: c.window}}}
		if list := (&world{}).list(totals); len(list) != 1 || list[0].name() != c.want {
			t.Errorf("a window of %s is called %q, want %s", c.window, list[0].name(), c.want)
		}
	}
	none := map[slot]*stored{{name: "readings", window: aggregate.NoWindow}: {def: &aggregate.Definition{Name: "readings"}}}
	must.Equal(t, (&world{}).list(none)[0].name(), "")
}

func TestTextWithoutTotals(t *testing.T) {
	var text bytes.Buffer
	must.Succeed(t, (&Summary{Same: true}).Text(&text, 3))
	if strings.Contains(text.String(), "TOTALS") ||
		!strings.HasSuffix(text.String(), "\nEvery event is stored once; there are no totals.\n") {
		t.Errorf("%s", &text)
	}
}
