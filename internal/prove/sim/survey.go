package sim

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/ingot-events/ingot/event"
)

// Survey adds up what happened in many worlds, to show that the trouble was real.
type Survey struct {
	Worlds   int
	faults   map[string]*Tally
	verdicts map[string]*Tally
	sizes    map[string][]int // one number for each world, for the median
	updates  int              // updates of totals that were requested
	// statements is how many of them went as PartiQL statements.
	statements int
	// besides counts the worlds in which some updates went as statements and others one by one.
	besides int
	// answers and pages are those to questions by patterns. asking counts the worlds that had some.
	answers, pages, asking int
	// looks are those of verify --twice while events flow.
	looks, altered, untold int
	// resurrected is how many events a late try has stored after they were Rejected.
	resurrected int
}

// Tally is how often something happened, and in how many worlds.
type Tally struct{ Times, Worlds int }

// NewSurvey returns an empty survey that knows every fault and every verdict by name. A name that
// never occurs is in it with a count of 0.
func NewSurvey() *Survey {
	s := &Survey{faults: map[string]*Tally{}, verdicts: map[string]*Tally{}, sizes: map[string][]int{}}
	for _, name := range FaultNames() {
		s.faults[name] = &Tally{}
	}
	for _, v := range event.Verdicts {
		s.verdicts[v.String()] = &Tally{}
	}
	return s
}

// Add adds the result of a world.
func (s *Survey) Add(r Result) {
	s.Worlds++
	count(s.faults, r.Stats.Faults)
	count(s.verdicts, r.Stats.Verdicts)
	for _, m := range medians() {
		s.sizes[m.name] = append(s.sizes[m.name], m.of(&r.Stats))
	}
	s.updates += r.Stats.Updates
	s.statements += r.Stats.Statements
	s.answers, s.pages = s.answers+r.Stats.Answers, s.pages+r.Stats.Pages
	s.looks, s.altered, s.untold = s.looks+r.Stats.Looks, s.altered+r.Stats.Altered, s.untold+r.Stats.Untold
	s.resurrected += r.Stats.Resurrected
	if r.Stats.Answers > 0 {
		s.asking++
	}
	if r.Stats.Statements > 0 && r.Stats.Statements < r.Stats.Updates {
		s.besides++
	}
}

func count(into map[string]*Tally, from map[string]int) {
	for name, n := range from {
		t := into[name]
		if t == nil {
			t = &Tally{}
			into[name] = t
		}
		t.Times += n
		if n > 0 {
			t.Worlds++
		}
	}
}

// rareWorlds is how often, at least, everything that can happen must happen: in one of so many
// worlds.
const rareWorlds = 100

// FewWorlds is how many worlds it takes before shares and medians mean anything.
const FewWorlds = 500

// Shortfalls lists what the worlds lacked: a fault or a verdict that occurred in less than one
// world in a hundred, a way of updating totals that was hardly used, or a median world that is too
// small to prove much. With fewer than [FewWorlds] worlds it judges nothing.
func (s *Survey) Shortfalls() (list []string) {
	if s.Worlds < FewWorlds {
		return nil
	}
	for _, kind := range []struct {
		name  string
		tally map[string]*Tally
	}{{"fault", s.faults}, {"verdict", s.verdicts}} {
		for _, name := range sortedKeys(kind.tally) {
			if t := kind.tally[name]; t.Worlds*rareWorlds < s.Worlds {
				list = append(list, fmt.Sprintf("the %s %q occurred in %d of %d worlds: under 1 %%", kind.name, name, t.Worlds, s.Worlds))
			}
		}
	}
	for _, way := range s.ways() {
		if way.part*100 < way.least*way.of {
			list = append(list, fmt.Sprintf("%s: %d of %d: at least %d %% are needed", way.name, way.part, way.of, way.least))
		}
	}
	for _, m := range medians() {
		if got := s.median(m.name); got < m.least {
			list = append(list, fmt.Sprintf("the median world has %d %s: at least %d are needed", got, m.name, m.least))
		}
	}
	return list
}

// share is a part of a whole.
type share struct {
	name     string
	part, of int
	least    int // in percent
}

// ways returns how totals were updated.
func (s *Survey) ways() []share {
	return []share{
		{"updates by a statement", s.statements, s.updates, 15},
		{"updates by an UpdateItem or in a transaction", s.updates - s.statements, s.updates, 50},
		{"worlds with both side by side", s.besides, s.Worlds, 30},
		{"worlds in which somebody asks by patterns", s.asking, s.Worlds, 15},
		{"pages after the first", s.pages - s.answers, s.pages, 40},
		{"worlds that verify twice while events flow", s.looks, s.Worlds, 30},
		{"of these, with a total altered by hand", s.altered, s.looks, 20},
		{"of these, that could not tell", s.untold, s.looks, 10},
		{"stored by a late try after they were Rejected", s.resurrected, s.verdicts["Rejected"].Times, 0},
	}
}

// measure is one size of a world.
type measure struct {
	name  string
	least int // the smallest median allowed
	of    func(*Stats) int
}

func medians() []measure {
	return []measure{
		{"messages", 200, func(s *Stats) int { return s.Sent }},
		{"deliveries", 0, func(s *Stats) int { return s.Deliveries }},
		{"invocations", 0, func(s *Stats) int { return s.Invocations }},
		{"shard rolls", 3, func(s *Stats) int { return s.Rolls }},
		{"expiries", 1, func(s *Stats) int { return s.Expired }},
		{"crashes and lost answers", 5, func(s *Stats) int { return s.Faults[crashed] + s.Faults[lost] + s.Faults[dropped] }},
		{"aggregates", 2, func(s *Stats) int { return s.Aggregates }},
		{"aggregate items", 0, func(s *Stats) int { return s.Totals }},
		{"steps", 0, func(s *Stats) int { return s.Steps }},
		{"hours", 0, func(s *Stats) int { return int(s.Hours) }},
	}
}

func (s *Survey) median(name string) int {
	sizes := slices.Clone(s.sizes[name])
	if len(sizes) == 0 {
		return 0
	}
	slices.Sort(sizes)
	return sizes[(len(sizes)-1)/2]
}

// Print writes the survey for people.
func (s *Survey) Print(out io.Writer) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	table := func(title string, tally map[string]*Tally) {
		fmt.Fprintf(w, "%s\ttimes\tworlds\t\n", title)
		names := sortedKeys(tally)
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(tally[b].Times, tally[a].Times) })
		for _, name := range names {
			t := tally[name]
			fmt.Fprintf(w, "%s\t%d\t%.1f %%\t\n", name, t.Times, 100*float64(t.Worlds)/float64(max(1, s.Worlds)))
		}
		fmt.Fprintln(w, "\t\t\t")
	}
	table("fault", s.faults)
	table("verdict", s.verdicts)
	fmt.Fprintln(w, "totals\ttimes\tshare\t")
	for _, way := range s.ways() {
		fmt.Fprintf(w, "%s\t%d\t%.1f %%\t\n", way.name, way.part, 100*float64(way.part)/float64(max(1, way.of)))
	}
	fmt.Fprintln(w, "\t\t\t")
	fmt.Fprintln(w, "median world\t\t\t")
	for _, m := range medians() {
		fmt.Fprintf(w, "%s\t%d\t\t\n", m.name, s.median(m.name))
	}
	w.Flush()
}
