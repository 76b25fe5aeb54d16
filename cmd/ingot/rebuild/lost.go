package rebuild

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/totals"
	"github.com/ingot-events/ingot/tables"
)

// lookedUp is how many totals of each aggregate rebuild --all looks up.
const lookedUp = 20

// doubts is the evidence, in one page of the events table, that aggregates are not complete
// although they say so. This happens if the aggregates table was lost and created again: it then
// knows nothing about earlier events.
type doubts struct {
	behind  []*aggregate.Definition // an event was written before the aggregate was declared
	missing []aggregate.Contribution
}

// doubtsOf reads one page of the events table, and looks up some totals of its events.
func doubtsOf(ctx context.Context, s pass.Opened, now time.Time) (d doubts, err error) {
	looked := map[*aggregate.Definition]int{}
	for page, err := range s.Store.ItemPages(ctx, tables.Segment{}) {
		if err != nil {
			return d, err
		}
		for _, item := range page.All {
			if item.ExpiresAt != 0 && item.ExpiresAt <= now.Unix() {
				continue
			}
			contributions := s.Plan.Contributions(item)
			for _, def := range contributions.Behind {
				if !slices.Contains(d.behind, def) {
					d.behind = append(d.behind, def)
				}
			}
			for _, c := range contributions.List {
				if expiry := lanes.Expiry(c.Def, c.Window); looked[c.Def] == lookedUp || expiry != 0 && expiry <= now.Unix() {
					continue
				}
				looked[c.Def]++
				missing, err := isMissing(ctx, s, &c)
				if err != nil {
					return d, err
				}
				if missing {
					d.missing = append(d.missing, c)
				}
			}
		}
		break // one page is enough: if the table was lost, nearly every older total is missing
	}
	return d, nil
}

func isMissing(ctx context.Context, s pass.Opened, c *aggregate.Contribution) (bool, error) {
	total, err := totals.CountedIn(ctx, s.Store, c)
	return total.Missing, err
}

// lost returns the reasons why aggregates are not complete although they say so. Events that the
// stream has not counted yet are not lost, so lost waits for the stream before it takes a total for
// missing.
func (a *app) lost(ctx context.Context, s pass.Opened, d doubts, patience time.Duration) (standing []string, err error) {
	if len(d.missing) == 0 {
		return nil, nil
	}
	if _, unsure := a.Lag(s.Target, patience).Counted(ctx); unsure != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		a.Say("totals of stored events are missing, but it is not known whether the stream has counted these events: %s",
			show.Error(unsure))
		return nil, cli.Unsure()
	}
	var gone []*aggregate.Definition
	for _, c := range d.missing {
		if slices.Contains(gone, c.Def) {
			continue
		}
		missing, err := isMissing(ctx, s, &c)
		if err != nil {
			return nil, err
		}
		if missing {
			gone = append(gone, c.Def)
		}
	}
	next := s.Plan.Epoch() + 1
	for _, def := range gone {
		standing = append(standing,
			fmt.Sprintf("%s: totals of stored events are missing, as in an aggregates table that was created again. Raise epoch to %d, "+
				"give the aggregate since: %d, deploy, and run the same command again", def, next, next))
	}
	return standing, nil
}
