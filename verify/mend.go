package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// Mended is what [Mend] did.
type Mended struct {
	Totals []MendedTotal
	More   int     // totals that are left for the next call, because one call mends at most 1,000
	Units  float64 // read units that the service has counted
}

// MendedTotal is a total that [Mend] has mended, or could not mend.
type MendedTotal struct {
	Def    *aggregate.Definition
	By     map[string]string // as the templates make it
	Window time.Time         // its start; zero without windows
	Why    string            // why it is not mended; empty if it is
}

// mostMended bounds what one call of [Mend] holds in memory.
const mostMended = 1000

// Mend gives every total of the definitions that differs from its items, or has a flag, the values
// that its items add up to, and takes its flags off. Without definitions it does so for all. Events
// may flow meanwhile.
//
// It verifies, reads the totals that it found, and then all items. A total is mended if one of
// these is true, and if none of its events has expired:
//
//   - Its fingerprint equals that of its items. Then it counts exactly these items, so their values
//     are its values.
//   - It was not written to until the stream had counted everything that was stored before the last
//     item was read, as lag says. Then nothing was on its way, so the difference is damage. This is
//     not known of totals that are counted by receipts.
//
// The write has the condition that the fingerprint is still the one that was read: see
// [repair.Mending.Set]. So a change that is counted between the reads and the write lets the write
// fail, and a change that is counted after it is added to the right values.
func Mend(ctx context.Context, c Config, st *store.Store, defs []*aggregate.Definition, lag Lag, patience time.Duration) (*Mended, error) {
	c.Env, c.Source, c.Work = c.Env.Real(), SourceOf(st), nil
	m := &mending{Config: c, store: st, at: map[string]*target{}}
	c.pick = func(key string, t total, head *tables.Head) {
		if len(defs) == 0 || slices.Contains(defs, t.def) {
			m.targets = append(m.targets, &target{total: t, key: key, head: head, ops: opsOf(t.def)})
		}
	}
	report, err := Run(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &Mended{More: max(0, len(m.targets)-mostMended), Units: report.Units}
	m.targets = m.targets[:len(m.targets)-out.More]
	if err := m.begin(ctx, report); err != nil {
		return nil, err
	}
	if out.Units, err = m.items(ctx); err != nil {
		return nil, err
	}
	if out.Units += report.Units; err == nil {
		err = m.settle(ctx, lag, patience)
	}
	for _, t := range m.targets {
		if !t.ignored {
			out.Totals = append(out.Totals, MendedTotal{t.def, t.values(), t.start(), t.why})
		}
	}
	return out, err
}

// mending is one call of [Mend].
type mending struct {
	Config
	store   *store.Store
	targets []*target
	at      map[string]*target // those that may be mended, by key
}

// target is a total that differs or has a flag.
type target struct {
	total
	key     string
	head    *tables.Head // nil: there is none
	held    *repair.Mending
	ops     []aggregate.Op
	stored  *sums.Sum
	wanted  *sums.Sum
	why     string // why it is not mended
	ignored bool   // its flag is accepted, and there is nothing to say of it
}

// begin reads the totals that may be mended.
func (m *mending) begin(ctx context.Context, report *Report) error {
	for _, t := range m.targets {
		if slices.Contains(report.Building, t.def) || report.Below[t.def] > 0 {
			t.why = "older items are not counted in its aggregate yet; rebuild that first"
			continue
		}
		if err := m.hold(ctx, t); err != nil {
			return err
		}
		if !t.stored.FPX.IsZero() || m.uncovered(t.head, t.total) {
			t.why = holdsExpired
			t.ignored = !slices.ContainsFunc(t.held.Stored(), func(s tables.StoredTotal) bool { return s.Flag != "" || s.Accepted == "" })
			continue
		}
		m.at[t.key] = t
	}
	return nil
}

const holdsExpired = "it holds events that have expired, so it cannot be computed again"

// hold reads one total.
func (m *mending) hold(ctx context.Context, t *target) (err error) {
	if t.held, err = repair.Of(m.store).BeginMending(ctx, t.def, t.address()); err != nil {
		return err
	}
	t.stored = sums.NewSum(t.ops)
	for _, part := range t.held.Stored() {
		addStored(t.stored, t.ops, t.def, &part)
	}
	return nil
}

// items reads all items, and adds up what they contribute to the totals. It returns the read units.
func (m *mending) items(ctx context.Context) (units float64, err error) {
	if len(m.at) == 0 {
		return 0, nil
	}
	p := sums.NewPace(m.Config.Config)
	parts := make([]*sums.Set, p.Segments)
	err = p.SideBySide(func(i int) error {
		parts[i] = sums.NewSet()
		for page, err := range m.store.ItemPages(ctx, p.From(i, sums.Position{})) {
			if err != nil {
				return err
			}
			for _, item := range page.All {
				m.item(parts[i], item)
			}
			if err := p.Spent(ctx, len(page.All), 0, page.Units); err != nil {
				return err
			}
		}
		return nil
	})
	for _, t := range m.at {
		t.wanted = sums.NewSum(t.ops)
		for _, part := range parts {
			if one := part.Get(t.key); one != nil {
				t.wanted.Add(t.ops, one.Sides[wanted])
			}
		}
	}
	return p.Units(), err
}

func (m *mending) item(into *sums.Set, item *event.Item) {
	contributions := m.Pipeline.Contributions(item)
	for i := range contributions.List {
		c := &contributions.List[i]
		if t := m.at[string(appendKey(nil, c.Def.Name, c.Def.Since, c.Window, c.By))]; t != nil {
			contribute(into, t.ops, c)
		}
	}
}

// settle mends the totals. It waits for the stream if it must know what was on its way.
func (m *mending) settle(ctx context.Context, lag Lag, patience time.Duration) error {
	var unproven []*target
	for _, t := range m.targets {
		switch {
		case m.at[t.key] == nil:
		case t.stored.FP.Cmp(t.wanted.FP) != 0:
			unproven = append(unproven, t)
		default:
			if err := m.set(ctx, t); err != nil {
				return err
			}
		}
	}
	if len(unproven) == 0 {
		return nil
	}
	unsure, err := delivered(ctx, m.Env, lag, m.Env.Now(), patience)
	if err != nil {
		return err
	}
	for _, t := range unproven {
		if t.why = unsure; unsure != "" {
			continue
		}
		if err := m.prove(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// prove mends a total whose fingerprint differs, if nothing was on its way to it.
func (m *mending) prove(ctx context.Context, t *target) error {
	head, err := m.store.Head(ctx, t.def)
	if err != nil {
		return err
	}
	untouched, err := t.held.Untouched(ctx)
	if err != nil {
		return err
	}
	if t.why = unprovable(head); t.why == "" && !untouched {
		t.why = errMoving.Error()
	}
	if t.why != "" {
		return nil
	}
	return m.set(ctx, t)
}

// unprovable says why it is not known of the totals of a generation that nothing was on its way.
func unprovable(head *tables.Head) string {
	switch {
	case head == nil || head.Building:
		return "older items are not counted in its aggregate yet; rebuild that first"
	case head.Counting == aggregate.Receipts.String():
		return "its events are counted by receipts, which do not say whether one was on its way; make a new generation"
	}
	return ""
}

var errMoving = errors.New("changes of its events were on their way; pause first, or try again")

// set writes what the items of a total add up to. If the answer to a write was lost, the total
// itself says that it is mended.
func (m *mending) set(ctx context.Context, t *target) error {
	if m.uncovered(t.head, t.total) { // since they were read
		t.why = holdsExpired
		return nil
	}
	set, err := t.held.Set(ctx, t.wanted.N, t.wanted.FP, t.wanted.Values[:len(t.def.Values)])
	if err != nil {
		t.why = err.Error()
		return ctx.Err()
	}
	if !set {
		if err := m.hold(ctx, t); err != nil {
			return err
		}
		again := &found{}
		if again.compareOne(t.total, t.key, t.ops, t.stored, t.wanted, false); len(again.Differences) > 0 || t.stored.Flagged {
			t.why = errMoving.Error()
			return nil
		}
	}
	for _, b := range t.def.Bounds {
		if !b.Holds(t.wanted.Values[b.Value].Number) {
			t.why = fmt.Sprintf("its values are right, and its flag stays, because %s is %s", t.def.Values[b.Value].Name, b.Beyond())
		}
	}
	return nil
}
