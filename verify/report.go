package verify

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// Report is the result of a comparison. Each of its lists holds at most 10,000 entries. More says
// how many there are beyond them.
type Report struct {
	Items       int     // Ingot's items in the events table, including expired ones that are not removed yet
	Totals      int     // totals compared
	Partly      int     // totals that keep what expired events added: only their fingerprint was compared
	Expired     int     // totals that an expiry does not close, and some events may have expired: only n was compared
	Units       float64 // read units that the service has counted for both scans
	Differences []Difference
	// Below is how many items are stamped below a generation that their type feeds. They are
	// missing from it until a touch pass brings them in.
	Below map[*aggregate.Definition]int
	// Building are the generations that are not declared complete. They may not have counted older
	// items yet. That is not a difference. See [Finish].
	Building []*aggregate.Definition
	// Flagged are generations and totals with a flag, which says that their values are not proven.
	Flagged []string
	// Unreadable are items that carry Ingot's mark but cannot be decoded, items from which a
	// definition cannot be computed, and parts whose whole is not stored or does not have them.
	Unreadable []string
	More       More
	// MissingParts is how many parts of stored events are not stored: see
	// [repair.Repairer.MissingParts]. [repair.Repairer.PutParts] puts them.
	MissingParts int
	// Copies is how many items are copies of rows whose type a migration has not turned yet. They
	// are not events, and nothing counts them.
	Copies int
	// missing is the first unreadable item that is not in a generation.
	missing map[*aggregate.Definition]string
	// differing counts the differences of each generation, including those beyond the list.
	differing map[*aggregate.Definition]int
}

// More counts the entries that are not in the lists of a report.
type More struct{ Differences, Flagged, Unreadable int }

func newReport() *Report {
	return &Report{Below: map[*aggregate.Definition]int{}, missing: map[*aggregate.Definition]string{},
		differing: map[*aggregate.Definition]int{}}
}

// OK reports whether nothing differs, and no part is missing.
func (r *Report) OK() bool { return len(r.Differences) == 0 && r.MissingParts == 0 }

// Difference is one total that does not equal the sum of its items.
type Difference struct {
	Total string // name, since, by and window, for people
	Def   *aggregate.Definition
	// By has the values of the total, as the templates make them. It is empty for a head.
	By     map[string]string
	Window time.Time // start of the total's window; zero without windows, and for a head
	What   string    // "fp", "n", a value's name, "i:score" for the copy that totals are ranked by, "missing", or "head"
	Has    string    // what is stored
	Wants  string    // what the items add up to
	// print identifies the way in which the total differs: by how much its fingerprint differs, or,
	// if the fingerprint does not differ, what the total has and should have.
	print string
	slot  string // what differs: the key of the total, or of the head
}

// String returns one line for people.
func (d Difference) String() string {
	if d.What == headSays {
		return fmt.Sprintf("%s: its head says that it is %s, and %s; touch them", d.Total, d.Has, d.Wants)
	}
	if d.What == lanes.ScoreAttribute {
		return fmt.Sprintf("%s: it is ranked as %s, and its value is %s", d.Total, d.Has, d.Wants)
	}
	return fmt.Sprintf("%s: %s is %s, and its items add up to %s", d.Total, d.What, d.Has, d.Wants)
}

// headSays is the What of a generation that says it is complete while items are stamped below it.
// Old code that did not know the generation has counted them.
const headSays = "head"

// found is what the comparison of one hash bucket has found.
type found struct {
	Totals      int            `json:"totals"`
	Partly      int            `json:"partly"`
	Expired     int            `json:"expired,omitempty"`
	Differences []difference   `json:"differences,omitempty"`
	Differing   map[string]int `json:"differing,omitempty"` // by generation, including those beyond the list
	Flagged     []string       `json:"flagged,omitempty"`
	MoreFlagged int            `json:"moreFlagged,omitempty"`
}

// difference is a [Difference] in a file.
type difference struct {
	Key   string `json:"key"`
	What  string `json:"what"`
	Has   string `json:"has"`
	Wants string `json:"wants"`
	Print string `json:"print"`
}

// compare compares one total, and reports whether it differs or has a flag. A total that has
// expired at now may be gone already, so it is not compared. See [Config.uncovered].
func (m *found) compare(t total, one *sums.Pair, now time.Time, uncovered bool) (doubtful bool) {
	key, stored, wanted := one.Key, one.Sides[stored], one.Sides[wanted]
	if expiry := lanes.Expiry(t.def, t.window); expiry != 0 && now.Unix() >= expiry {
		return false
	}
	m.Totals++
	if stored == nil {
		m.differ(t, difference{key, "missing", "nothing", fmt.Sprintf("n %d", wanted.N), "-" + wanted.FP.String()})
		return true
	}
	for _, flag := range stored.Notes {
		if len(m.Flagged) < maxListed {
			m.Flagged = append(m.Flagged, t.String()+": "+flag)
		} else {
			m.MoreFlagged++
		}
	}
	if wanted == nil {
		wanted = sums.NewSum(one.Ops)
	}
	before := m.Differing[lanes.ID(t.def)]
	m.compareOne(t, key, one.Ops, stored, wanted, uncovered)
	return stored.Flagged || m.Differing[lanes.ID(t.def)] > before
}

// compareOne always compares the fingerprint of what is live. It compares n and the values if every
// item that was counted is still there, or was subtracted when it left. Of a total that is
// uncovered it can only say that it counts fewer events than are left.
func (m *found) compareOne(t total, key string, ops []aggregate.Op, stored, wanted *sums.Sum, uncovered bool) {
	live := stored.FP.Sub(stored.FPX)
	by := live.Sub(wanted.FP)
	differ := func(what, has, wants string) {
		print := by.String()
		if by.IsZero() { // both sides count the same events, so this difference does not come from events in motion
			print = what + " " + has + " " + wants
		}
		m.differ(t, difference{key, what, has, wants, print})
	}
	if uncovered {
		if m.Expired++; stored.N < wanted.N {
			differ("n", fmt.Sprint(stored.N), fmt.Sprintf("%d or more", wanted.N))
		}
		return
	}
	if !by.IsZero() {
		differ("fp", live.String(), wanted.FP.String())
	}
	if i := ranked(t.def); i >= 0 {
		if score, value := shownOf(stored, ops, len(t.def.Values)), shownOf(stored, ops, i); score != value {
			m.differ(t, difference{key, lanes.ScoreAttribute, score, value, lanes.ScoreAttribute + " " + score + " " + value})
		}
	}
	if !stored.FPX.IsZero() { // some of its events have expired
		m.Partly++ // n and the values contain expired events, so they cannot be computed from the items that are left
		return
	}
	if stored.N != wanted.N {
		differ("n", fmt.Sprint(stored.N), fmt.Sprint(wanted.N))
	}
	for i, v := range t.def.Values {
		if !v.Op.Additive() && (stored.Flagged || wanted.N == 0) {
			continue // its items have outlived it, and it has a flag that says so
		}
		if a, b := stored.Text(ops, i), wanted.Text(ops, i); a != b {
			differ(v.Name, shown(v.Op, a), shown(v.Op, b))
		}
	}
}

func (m *found) differ(t total, d difference) {
	if m.Differing == nil {
		m.Differing = map[string]int{}
	}
	m.Differing[lanes.ID(t.def)]++
	if len(m.Differences) < maxListed {
		m.Differences = append(m.Differences, d)
	}
}

// found adds what the comparison of one bucket has found.
func (r *Report) found(p *pipeline.Pipeline, m *found) error {
	r.Totals, r.Partly, r.Expired = r.Totals+m.Totals, r.Partly+m.Partly, r.Expired+m.Expired
	before, all := len(r.Differences)+r.More.Differences, 0
	for _, d := range m.Differences {
		t, err := parseKey(p, d.Key)
		if err != nil {
			return err
		}
		if len(r.Differences) < maxListed {
			r.Differences = append(r.Differences, Difference{t.String(), t.def, t.values(), t.start(), d.What, d.Has, d.Wants,
				d.Print, d.Key})
		}
	}
	for id, n := range m.Differing {
		all += n
		for _, def := range p.Definitions() {
			if lanes.ID(def) == id {
				r.differing[def] += n
			}
		}
	}
	r.More.Differences = before + all - len(r.Differences)
	for _, text := range m.Flagged {
		r.flag(text)
	}
	r.More.Flagged += m.MoreFlagged
	return nil
}

func (r *Report) flag(text string) {
	if len(r.Flagged) < maxListed {
		r.Flagged = append(r.Flagged, text)
	} else {
		r.More.Flagged++
	}
}

// seen adds what the segments have seen besides the sums.
func (r *Report) seen(p *pipeline.Pipeline, s *seen) {
	r.MissingParts, r.Copies = s.Parts, s.Copies
	r.Items, r.Units, r.Unreadable, r.More.Unreadable = s.Items, s.Units, s.Unreadable, s.MoreUnreadable
	for _, def := range p.Definitions() {
		id := lanes.ID(def)
		if n := s.Below[id].N; n > 0 {
			r.Below[def] = n
		}
		if what := s.Missing[id]; what != "" {
			r.missing[def] = what
		}
	}
}

// head adds what the head of a generation says. It is read after the items, so it also tells of
// items that were written below the generation in the meantime.
func (r *Report) head(def *aggregate.Definition, head *tables.Head, items below) {
	if head.Building {
		r.Building = append(r.Building, def)
	}
	for _, flag := range head.Flags() {
		r.flag(def.String() + ", all totals: " + flag)
	}
	if items.N > 0 && !head.Building {
		r.differing[def]++
		r.Differences = append(r.Differences, Difference{def.String() + ", all totals", def, nil, time.Time{}, headSays, "complete",
			fmt.Sprintf("%d items are stamped below it", items.N), fmt.Sprintf("%d %x", items.N, items.Print), "head " + lanes.ID(def)})
	}
}

// sort puts the lists in order. What differs in a total stays in the order of its values.
func (r *Report) sort() {
	slices.SortStableFunc(r.Differences, func(a, b Difference) int {
		if (a.What == headSays) != (b.What == headSays) {
			if a.What == headSays {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Total, b.Total)
	})
	slices.Sort(r.Unreadable)
	slices.Sort(r.Flagged)
}

// shownOf returns a number for people. A number that nothing was added to counts as missing.
func shownOf(s *sums.Sum, ops []aggregate.Op, column int) string {
	if !s.Values[column].Set {
		return "missing"
	}
	return s.Text(ops, column)
}

// shown returns a value for people. A sketch is shown with its bytes, because two different
// sketches can have the same estimate.
func shown(op aggregate.Op, text string) string {
	if op != aggregate.Distinct {
		return text
	}
	var s aggregate.Sketch
	if err := s.Merge(text); err != nil {
		return err.Error()
	}
	digest := sha256.Sum256([]byte(text))
	return fmt.Sprintf("a sketch of about %d (%x)", s.Estimate(), digest[:4])
}
