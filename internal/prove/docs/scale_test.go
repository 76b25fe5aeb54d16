package docs

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/estimate"
)

const scalePage = "docs/scale.md"

const (
	maxSpread     = 1000 // of pipeline.yaml
	itemUnits     = 1000 // write units that one item takes in a second
	lambdaQuota   = 1000 // how many functions run at once, by default
	tableQuota    = 40_000
	putsARequest  = 25
	changesOfOne  = 1000 // in a batch
	updatesOfEach = 3
	// receiptsInOne is how many changes one transaction can make to one total: each change has its
	// receipt, and a transaction has at most 100 items.
	receiptsInOne  = 98
	growthAtOnce   = 4000
	unitsOfReceipt = estimate.ReceiptUnits
)

// hot is one total that all shards of a table with so many partitions touch.
type hot struct {
	partitions int
	def        aggregate.Definition
}

func (h hot) rate() int { return h.partitions * estimate.ChangesPerShard }

// bytes returns the size of its item, or of each of its items if the total is spread over so many.
func (h hot) bytes(spread int) int {
	h.def.Spread = spread
	return estimate.Bytes(&h.def, nil) + estimate.Marks(&h.def, aggregate.Marks, h.partitions)*estimate.MarkBytes
}

func (h hot) fits(spread int) bool   { return h.bytes(spread) <= event.MaxItem }
func (h hot) units(spread int) int   { return estimate.Units(&h.def, h.bytes(spread), aggregate.Marks) }
func (h hot) needed() int            { return estimate.SpreadForOne(estimate.Bytes(&h.def, nil), h.partitions) }
func (h hot) spread() int            { return min(maxSpread, h.needed()) }
func (h hot) hottest(spread int) int { return (h.partitions + spread - 1) / spread * h.units(spread) }

func scales(t *testing.T) []hot {
	t.Helper()
	def, ok := loaded(t, sampleshop.Pipeline).Definition("product_totals")
	if !ok {
		t.Fatal("the sample shop has no product_totals")
	}
	var list []hot
	for _, partitions := range []int{10, 100, 1000, 10_000} {
		list = append(list, hot{partitions, *def})
	}
	if list[2].rate() != 1_000_000 {
		t.Fatal("no row is of a million events a second")
	}
	return list
}

// TestScale shows that the page about growth computes as ingot check does.
func TestScale(t *testing.T) {
	for marker, row := range map[string]func(hot) []string{
		"scale item": itemRow, "scale updates": updatesRow, "scale running": runningRow, "scale breaks": breaksRow,
	} {
		var want [][]string
		for _, h := range scales(t) {
			want = append(want, append([]string{grouped(h.partitions)}, row(h)...))
		}
		compareTable(t, scalePage, marker, want)
	}
}

// TestScaleOfATotalWithoutSpread checks where, according to the page, a total without spread
// becomes too large for its item.
func TestScaleOfATotalWithoutSpread(t *testing.T) {
	h := scales(t)[0]
	for h.partitions = 1; h.fits(1); h.partitions++ {
	}
	must.Say(t, read(t, scalePage), fmt.Sprintf("From %d partitions on, a total without `spread` is refused", h.partitions))
}

// TestFunctionsOfDefaults checks how many functions a stack runs at once with the template's
// defaults, which a new account may not allow.
func TestFunctionsOfDefaults(t *testing.T) {
	declared := regexp.MustCompile(`MaximumConcurrency:\n    Type: Number\n    Default: (\d+)\n`)
	most := declared.FindStringSubmatch(read(t, sampleshop.Template))
	if most == nil {
		t.Fatal("the template has no default of MaximumConcurrency")
	}
	ingest, err := strconv.Atoi(most[1])
	must.Succeed(t, err)
	shards := growthAtOnce / estimate.ChangesPerShard
	said := func(page, format string, args ...any) {
		t.Helper()
		must.Say(t, oneLine(t, page), fmt.Sprintf(format, args...))
	}
	said(deployPage, "the template's defaults need %d.", ingest+shards)
	said(scalePage, "a stack needs %d: up to %d ingest functions", ingest+shards, ingest)
	said(scalePage, "one streams function for each of the %d shards of a new table", shards)
	said(scalePage, "`MaximumConcurrency=2` (%d functions for a new table)", 2+shards)
	said(scalePage, "| ingest functions at the start of a burst | %d |", estimate.Pollers)
}

func itemRow(h hot) []string {
	h.def.Spread = 1
	lanes, needed, units := estimate.LanesPerPartition*h.partitions, grouped(h.needed()), "refused"
	if h.fits(1) {
		units = grouped(h.units(1))
	}
	if h.needed() > maxSpread {
		needed = fmt.Sprintf("none: %s is the most", grouped(maxSpread))
	}
	return []string{grouped(h.rate()), grouped(lanes), grouped(estimate.Marks(&h.def, aggregate.Marks, h.partitions) * estimate.MarkBytes),
		units, needed,
		grouped(h.units(h.spread())), grouped(h.spread()), grouped(h.spread() * int(itemform.ReadUnits(h.bytes(h.spread()))))}
}

func updatesRow(h hot) []string {
	plain, all := "refused", "refused"
	if h.fits(1) {
		plain, all = grouped(h.hottest(1)), grouped(h.partitions*h.units(1))
	}
	transactions := (h.rate() + receiptsInOne - 1) / receiptsInOne
	total := transactions * estimate.Units(&h.def, estimate.Bytes(&h.def, nil), aggregate.Receipts)
	return []string{plain, all, grouped(h.hottest(h.spread())), grouped(h.partitions * h.units(h.spread())), grouped(h.rate()),
		grouped(total), grouped(total + h.rate()*unitsOfReceipt)}
}

func runningRow(h hot) []string {
	requests := float64(h.rate()) * (1.0/putsARequest + updatesOfEach*estimate.RequestsPerUpdate)
	return []string{grouped(h.rate()), grouped(h.partitions), grouped(h.rate() / changesOfOne), grouped(int(requests + 0.5))}
}

// breaksRow returns the first limit that such a table meets. The limits are in the order in which
// they hurt.
func breaksRow(h hot) []string {
	least := estimate.MemoryFor(estimate.ChangesPerShard, updatesOfEach)
	switch {
	case h.needed() > maxSpread:
		return []string{fmt.Sprintf(
			"no `spread` is enough: with the most, %s, an update of such a total takes %d units, and a read %s requests",
			grouped(maxSpread), h.units(maxSpread), grouped(maxSpread)),
			"several stacks, each with a part of the events, or a `window` and a `by` that keep most shards away from any one total"}
	case !h.fits(1):
		return []string{fmt.Sprintf("a total without `spread` outgrows its item; and %s streams functions are all that the account may run",
			grouped(h.partitions)),
			fmt.Sprintf("`spread: %d` from the beginning; ask for more Lambda functions at once, for both functions", h.spread())}
	case h.hottest(1) > itemUnits:
		return []string{fmt.Sprintf("a total without `spread`: %s units a second on one item; and a table takes %s of the %s writes",
			grouped(h.hottest(1)), grouped(tableQuota), grouped(h.rate())),
			fmt.Sprintf("`spread: %d`; ask for a higher table quota", h.spread())}
	}
	return []string{fmt.Sprintf("a streams function with less than %d MB; and, at the start, a new table, which takes %s of the %s writes",
		least, grouped(growthAtOnce), grouped(h.rate())),
		fmt.Sprintf("`MemorySize` of at least %d; warm the table up; `spread: %d` saves %d of %d units of an update", least, h.spread(),
			h.units(1)-1, h.units(1))}
}

// grouped groups digits by thousands.
func grouped(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
