package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/env"
)

// Lag says how far the streams function is behind the events.
type Lag interface {
	// Counted returns a time. Every change of the events table before that time has been counted.
	// The error says why the time is not known.
	Counted(context.Context) (time.Time, error)
}

// Looks is what [Twice] has found.
type Looks struct {
	First  *Report
	Second *Report // nil if the first look found no difference
	// Damaged are the differences that are the same at both looks. Nothing that was in motion at
	// the first look was still in motion at the second, so these totals are wrong.
	Damaged []Difference
	// Undecided are differences of the second look in totals that differed at the first look too:
	// in another way, or while it was not known how far the stream was. A total that was equal at
	// one of the looks is proven, and is in neither list.
	Undecided []Difference
	// Unsure says why no difference can be called damage. It is empty if the lag could be read and
	// was short.
	Unsure string
}

// pollLag is the time between two questions after the lag.
const pollLag = 5 * time.Second

// Twice compares all totals while events flow. What the stream has not delivered yet looks like a
// difference. So Twice compares all totals, waits until the stream has delivered everything that
// was written before the end of that look, and compares again. Every change that was in motion at
// the first look is counted by then. A total that then differs by the same fingerprint is damaged:
// only the same events, missed or counted too often, make the same difference. A total that differs
// in another way is in motion.
//
// The same event cannot be in motion at both looks, because a look reads all totals before the
// first item. So what a total lacks was inserted, and what it has too much was removed. An event
// that was being inserted at the first look can only be removed at the second, and that is a
// difference in the other direction. There are two exceptions while the two looks last. An event is
// stored, leaves the table, and is stored again. That takes a person who removes it by hand, or an
// older revision that expires later than a newer one. Or an item of mode latest leaves a total and
// comes back with the same values, as an order that is open, closed and open again.
//
// Values prove nothing here. A count can be one too low at both looks although nothing is wrong:
// another event is under way at each look.
//
// Twice waits for the stream for as long as patience says. If the lag cannot be read, or is still
// too long then, it looks a second time all the same, and calls nothing damaged.
func Twice(ctx context.Context, c Config, lag Lag, patience time.Duration) (*Looks, error) {
	c.Env, c.Looks = c.Env.Real(), true
	return TwiceBy(ctx, c.Env, lag, patience, func(ctx context.Context, _ string) (*Report, error) { return Run(ctx, c) })
}

// TwiceLooks are the names of the looks of [TwiceBy].
var TwiceLooks = []string{first, second, unsure}

const (
	first  = "first"
	second = "second"
	unsure = "unsure" // a second one, of which it is not known whether it began late enough
)

// TwiceBy is [Twice] with looks of the caller, such as those of many processes: each must read all
// totals before the first item, as [Config.Looks] says. A look that was under way at an earlier
// call may go on if it has the same name.
func TwiceBy(ctx context.Context, e env.Env, lag Lag, patience time.Duration,
	look func(ctx context.Context, name string) (*Report, error)) (*Looks, error) {
	e = e.Real()
	one, err := look(ctx, first)
	if err != nil || one.OK() {
		return &Looks{First: one}, err
	}
	why, err := delivered(ctx, e, lag, e.Now(), patience)
	if err != nil {
		return nil, err
	}
	name := second
	if why != "" {
		name = unsure
	}
	two, err := look(ctx, name)
	if err != nil {
		return nil, err
	}
	return Judge(one, two, why), nil
}

// delivered waits until all changes before a time are counted. If that does not become certain, it
// returns the reason as text.
func delivered(ctx context.Context, e env.Env, lag Lag, until time.Time, patience time.Duration) (unsure string, err error) {
	for began := e.Now(); ; {
		counted, err := lag.Counted(ctx)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err != nil {
			return fmt.Sprintf("nobody can tell how far the streams function is: %v", err), nil
		}
		if !counted.Before(until) {
			return "", nil
		}
		if waited := e.Now().Sub(began); waited >= patience {
			return fmt.Sprintf("after %s, the streams function has not yet counted everything that was written before the first look ended",
				waited.Round(time.Second)), nil
		}
		if err := e.Sleep(ctx, pollLag); err != nil {
			return "", err
		}
	}
}

// Judge compares the differences of two looks. unsure says why no difference can be called damage.
func Judge(first, second *Report, unsure string) *Looks {
	l := &Looks{First: first, Second: second, Unsure: unsure}
	type way struct{ slot, what, print string }
	ways, slots := map[way]bool{}, map[string]bool{}
	for _, d := range l.First.Differences {
		ways[way{d.slot, d.What, d.print}], slots[d.slot] = true, true
	}
	for _, d := range l.Second.Differences {
		switch {
		case l.Unsure == "" && ways[way{d.slot, d.What, d.print}]:
			l.Damaged = append(l.Damaged, d)
		case slots[d.slot] || l.First.More.Differences > 0: // the list of the first look is not complete
			l.Undecided = append(l.Undecided, d)
		}
	}
	return l
}

// OK reports whether every total was equal at one of the looks at least.
func (l *Looks) OK() bool {
	return l.Second == nil || len(l.Damaged)+len(l.Undecided)+l.Second.More.Differences == 0
}
