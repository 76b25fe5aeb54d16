// Package survey adds up what happened in many worlds, to show that the trouble was real.
package survey

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
)

// Stats says what happened in a world.
type Stats struct {
	Sent, Deliveries, Acknowledged int
	Invocations, Puts, Updates     int
	Statements                     int // of those updates
	Steps                          int
	Shards, Rolls                  int // shards with records; shards that continue others
	Inserted, Expired              int
	Aggregates, Totals             int // aggregates that counted something, and how many items they have
	Faults                         map[string]int
	Verdicts                       map[string]int
	Hours                          float64 // of the world's own time
	Answers, Pages                 int     // to questions by patterns
	Resurrected                    int     // events that a late try stored after they were Rejected
	Looks, Altered, Untold         int     // verify --twice; with a total altered by hand; that could not tell
	Mended                         int     // totals that somebody has mended
}

// Survey is the sum over many worlds.
type Survey struct {
	Worlds   int
	Faults   map[string]*Tally
	Verdicts map[string]*Tally
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

// New returns an empty survey that knows these faults and every verdict by name. A name that never
// occurs is in it with a count of 0.
func New(faults []string) *Survey {
	s := &Survey{Faults: map[string]*Tally{}, Verdicts: map[string]*Tally{}, sizes: map[string][]int{}}
	for _, name := range faults {
		s.Faults[name] = &Tally{}
	}
	for _, v := range event.Verdicts {
		s.Verdicts[v.String()] = &Tally{}
	}
	return s
}

// Add adds what happened in a world.
func (s *Survey) Add(in Stats) {
	s.Worlds++
	count(s.Faults, in.Faults)
	count(s.Verdicts, in.Verdicts)
	for _, m := range medians() {
		s.sizes[m.name] = append(s.sizes[m.name], m.of(&in))
	}
	s.updates += in.Updates
	s.statements += in.Statements
	s.answers, s.pages = s.answers+in.Answers, s.pages+in.Pages
	s.looks, s.altered, s.untold = s.looks+in.Looks, s.altered+in.Altered, s.untold+in.Untold
	s.resurrected += in.Resurrected
	if in.Answers > 0 {
		s.asking++
	}
	if in.Statements > 0 && in.Statements < in.Updates {
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

// Few is how many worlds it takes before shares and medians mean anything.
const Few = 500

// Shortfalls lists what the worlds lacked: a fault or a verdict that occurred in less than one
// world in a hundred, a way of updating totals that was hardly used, or a median world that is too
// small to prove much. With fewer than [Few] worlds it judges nothing.
func (s *Survey) Shortfalls() (list []string) {
	if s.Worlds < Few {
		return nil
	}
	for _, kind := range []struct {
		name  string
		tally map[string]*Tally
	}{{"fault", s.Faults}, {"verdict", s.Verdicts}} {
		for _, name := range slices.Sorted(maps.Keys(kind.tally)) {
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
		{"stored by a late try after they were Rejected", s.resurrected, s.Verdicts["Rejected"].Times, 0},
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
		{"crashes and lost answers", 5,
			func(s *Stats) int { return s.Faults[stage.Crashed] + s.Faults[stage.Lost] + s.Faults[stage.Dropped] }},
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
		names := slices.Sorted(maps.Keys(tally))
		slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(tally[b].Times, tally[a].Times) })
		for _, name := range names {
			t := tally[name]
			fmt.Fprintf(w, "%s\t%d\t%.1f %%\t\n", name, t.Times, 100*float64(t.Worlds)/float64(max(1, s.Worlds)))
		}
		fmt.Fprintln(w, "\t\t\t")
	}
	table("fault", s.Faults)
	table("verdict", s.Verdicts)
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
