package changes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/pipeline"
)

// retainChanges compares how long events of one type live under two versions of the file. It does
// so for events of every time. It refuses a longer life unless this begins with events of the
// future. Events that were stored under the shorter life may have been removed by time to live.
// They would be stored and counted again.
func retainChanges(subject string, was, is pipeline.EventSpec, now time.Time) []Change {
	longer, less := false, false
	for _, span := range lifespans(was, is) {
		before, after := was.RetainAt(span.from), is.RetainAt(span.from)
		if after != 0 && !span.to.IsZero() && !span.to.Add(after).After(now) {
			continue // all these events have also expired under the new file
		}
		longer = longer || lifetime.Shorter(before, after) && !span.from.After(now)
		less = less || lifetime.Shorter(after, before)
	}
	report := Change{Identity, subject, "retain", retainText(was), retainText(is), ""}
	if report.Old == report.New {
		report.Member, report.Old, report.New = "was", wasText(was.Was), wasText(is.Was)
	}
	var list []Change
	if longer {
		report.Do = fmt.Sprintf(retainLonger, wasText(neededWas(was, is, now)))
		list = append(list, report)
	}
	if less {
		report.Do = retainShorter
		list = append(list, report)
	}
	return list
}

const (
	retainLonger = "write was: %s in this event type: without it an event that has expired and is sent again would be stored " +
		"again, and counted twice, whether the queue is drained or not. The time in it must be after the deployment, and " +
		"after the own time of every event that is stored until then; a later time does no harm"
	retainShorter = "drain the queue before deploying: an event in it that is older than its new retain would be Expired. " +
		"Items that are stored keep the expiry they have. To make retain longer again later takes an entry in was"
)

// expiresChanges compares at which time in their payloads events of one type expire under two
// versions of the file.
func expiresChanges(subject string, was, is pipeline.EventSpec, now time.Time) []Change {
	if is.Mode == "latest" {
		return nil // it is read anew with each answer
	}
	needed := neededExpires(was, is, now)
	missing := slices.ContainsFunc(needed, func(w pipeline.WasSpec) bool { return !slices.Contains(is.Was, w) })
	report := Change{Identity, subject, "expires", was.Expires, is.Expires, retainShorter}
	if missing {
		report.Do = fmt.Sprintf(retainLonger, wasText(neededWas(was, is, now)))
	}
	if report.Old == report.New {
		report.Member, report.Old, report.New = "was", wasText(was.Was), wasText(is.Was)
	}
	if missing || is.Expires != "" && is.Expires != was.Expires {
		return []Change{report}
	}
	return nil
}

// neededExpires returns the earlier expires that the new file must name, each with the latest time.
func neededExpires(was, is pipeline.EventSpec, now time.Time) (needed []pipeline.WasSpec) {
	list := slices.Concat(is.Was, was.Was)
	if was.Expires != "" && was.Expires != is.Expires {
		named := func(w pipeline.WasSpec) bool { return w.Expires == was.Expires && w.Before.After(now) }
		if !slices.ContainsFunc(is.Was, named) {
			list = append(list, pipeline.WasSpec{Expires: was.Expires, Before: untilDeployed(now)})
		}
	}
	slices.SortStableFunc(list, func(a, b pipeline.WasSpec) int { return a.Before.Compare(b.Before) })
	for i, w := range list {
		covered := slices.ContainsFunc(list[i+1:], func(later pipeline.WasSpec) bool { return later.Expires == w.Expires })
		if over := is.Retain != 0 && !w.Before.Add(is.Retain).After(now); w.Expires != "" && !covered && !over {
			needed = append(needed, w)
		}
	}
	return needed
}

func retainText(t pipeline.EventSpec) string {
	if t.Retain == 0 {
		return ""
	}
	return lifetime.Format(t.Retain)
}

// span holds the event times from `from` until before `to`. One retain holds for all of them. A
// zero time means that this side has no end.
type span struct{ from, to time.Time }

// lifespans cuts time at each point where either version changes how long events live.
func lifespans(was, is pipeline.EventSpec) []span {
	cuts := []time.Time{{}}
	for _, w := range slices.Concat(was.Was, is.Was) {
		cuts = append(cuts, w.Before)
	}
	slices.SortFunc(cuts, time.Time.Compare)
	spans := make([]span, len(cuts))
	for i, from := range cuts {
		spans[i].from = from
		if i+1 < len(cuts) {
			spans[i].to = cuts[i+1]
		}
	}
	return spans
}

// untilDeployed returns the end of the day after today. This leaves some time for the deployment,
// and for events that are a little ahead.
func untilDeployed(now time.Time) time.Time {
	return now.UTC().Truncate(lifetime.Day).Add(2 * lifetime.Day)
}

// neededWas returns the shortest list under which no event of a time until the deployment lives
// longer than before.
func neededWas(was, is pipeline.EventSpec, now time.Time) []pipeline.WasSpec {
	list := slices.Concat(is.Was, was.Was)
	if was.Retain != 0 {
		list = append(list, pipeline.WasSpec{Retain: was.Retain, Before: untilDeployed(now)})
	}
	list = slices.DeleteFunc(list, func(w pipeline.WasSpec) bool { return w.Expires != "" })
	slices.SortFunc(list, func(a, b pipeline.WasSpec) int { return a.Before.Compare(b.Before) })
	var needed []pipeline.WasSpec
	for i, w := range list {
		covered := slices.ContainsFunc(list[i+1:], func(later pipeline.WasSpec) bool { return later.Retain <= w.Retain })
		over := is.Retain != 0 && !w.Before.Add(is.Retain).After(now)
		if !covered && !over && lifetime.Shorter(w.Retain, is.Retain) {
			needed = append(needed, w)
		}
	}
	return append(needed, neededExpires(was, is, now)...)
}

// wasText returns a list of lifetimes as the file writes it. It is empty if the list is empty.
func wasText(list []pipeline.WasSpec) string {
	if len(list) == 0 {
		return ""
	}
	entries := make([]string, len(list))
	for i, w := range list {
		life := "retain: " + lifetime.Format(w.Retain)
		if w.Expires != "" {
			life = fmt.Sprintf("expires: %q", w.Expires)
		}
		entries[i] = fmt.Sprintf("{%s, before: %s}", life, w.Before.Format(time.RFC3339Nano))
	}
	return "[" + strings.Join(entries, ", ") + "]"
}
