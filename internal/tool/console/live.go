package console

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/verify"
)

// Live is the pipeline of this process.
type Live struct {
	Resources
	Feed     *Feed
	Troubles *Trouble
	Sweep    func() int // removes what has expired
}

// About describes the pipeline.
func (l *Live) About(context.Context) (*About, error) {
	out := l.about(true)
	out.Trouble = l.Troubles.kinds()
	return out, nil
}

// Flow returns what the feed has seen, and how full the queues are.
func (l *Live) Flow(ctx context.Context) (*Flow, error) {
	out := l.Feed.flow()
	personal := l.personal()
	for i, r := range out.Recent {
		key := personal.Item(event.Item{Type: r.Type, Key: event.Key{PK: r.PK, SK: r.SK}}).Key
		if key.PK != r.PK || key.SK != r.SK {
			out.Recent[i].PK, out.Recent[i].SK, out.Recent[i].Hidden = key.PK, key.SK, true
		}
	}
	out.Queues, out.Missing = l.queues(ctx)
	return out, nil
}

// Journey shows what happened to an event since the start, and what is stored of it.
func (l *Live) Journey(ctx context.Context, q Question) (*Journey, error) {
	if q.Delivery == 0 {
		return l.journey(ctx, q, l.Feed.find)
	}
	one, there := l.Feed.refusal(q.Delivery)
	if !there {
		return nil, &mistake{fmt.Sprintf("this delivery is forgotten: ingot dev remembers the latest %d that were refused; its message "+
			"is on the page Quarantine, if it is still there", feedRefused)}
	}
	first := l.refusedStep(one)
	q = Question{PK: one.key.PK, SK: one.key.SK}
	if one.whole && one.body != "" {
		q = Question{Message: one.body, attributes: one.attributes}
	}
	j, err := l.journey(ctx, q, l.Feed.find)
	var unknown *mistake
	if errors.As(err, &unknown) { // it names no event
		first.Code = l.personal().Data(one.body)
		return &Journey{Steps: []Step{first}}, nil
	}
	if err == nil {
		j.Steps = slices.Insert(j.Steps, 0, first)
	}
	return j, err
}

// refusedStep says why a delivery was refused.
func (l *Live) refusedStep(one refused) Step {
	s := Step{Name: "delivery", Title: "Delivery", State: stateRefused}
	s.add("delivered", clock(one.at))
	s.add("verdict", one.verdict+" ("+one.reason+")")
	s.add("because", l.personal().Detail(event.Reason(one.reason), one.detail))
	s.add("message id", one.message)
	if one.returned {
		s.add("", "It went back to the queue, and is delivered again.")
	}
	return s
}

// Totals allows every scan: it costs nothing here.
func (l *Live) Totals(ctx context.Context, c Choice) (*Totals, error) {
	c.Scan = true
	return l.Resources.Totals(ctx, c)
}

// maxFindings is how many findings are shown at most.
const maxFindings = 50

// Verify looks this often and waits this long between two looks, because some changes may not be
// counted yet. In total it waits longer than a throttle of [Trouble] lasts.
const (
	looks     = 15
	lookAgain = time.Second
)

// Verify compares every total with the items. If there are differences, it looks again, because
// totals may still be behind the events.
func (l *Live) Verify(ctx context.Context) (out *Verified, err error) {
	for look := 1; ; look++ {
		if out, err = l.verify(ctx); err != nil || out.Same || look == looks {
			return out, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(lookAgain):
		}
	}
}

func (l *Live) verify(ctx context.Context) (*Verified, error) {
	st, p, err := l.store()
	if err != nil {
		return nil, err
	}
	report, err := verify.Totals(ctx, p, st, l.now())
	if err != nil {
		return nil, err
	}
	out := &Verified{Same: report.OK() && len(report.Unreadable) == 0, Findings: findings(report, l.personal())}
	if more := len(out.Findings) - maxFindings; more > 0 {
		out.Findings = append(out.Findings[:maxFindings], fmt.Sprintf("and %d more", more))
	}
	compared := fmt.Sprintf("%s totals were compared with %s items", show.Comma(report.Totals), show.Comma(report.Items))
	if out.Same {
		out.Said = compared + ": every one is the sum of its events."
	} else {
		out.Said = fmt.Sprintf("%s, and after %d looks there are %d findings. Totals run behind while events arrive. If no events are "+
			"arriving now, the totals are damaged.", compared, looks, len(out.Findings))
	}
	return out, nil
}

// findings lists what a report has found, without what is personal.
func findings(report *verify.Report, personal show.Personal) []string {
	list := []string{}
	for _, d := range report.Differences {
		list = append(list, personal.Difference(d).String())
	}
	if n := report.MissingParts; n > 0 {
		list = append(list, show.Count(n, "part")+" of stored events missing; ingot rebuild parts puts them")
	}
	for _, text := range report.Unreadable {
		list = append(list, "unreadable: "+personal.Finding(text))
	}
	for _, text := range report.Flagged {
		list = append(list, "flagged: "+personal.Finding(text))
	}
	for _, def := range report.Building {
		list = append(list, def.String()+": building; older items may not be counted yet")
	}
	return list
}
