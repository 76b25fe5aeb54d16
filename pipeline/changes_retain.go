package pipeline

import (
	"fmt"
	"slices"
	"time"
)

// retainChanges compares how long events of one type live under two versions of the file, for events of every time.
// A longer life is refused unless it begins with events of the future: what was stored under the shorter one may have
// been removed by time to live, and would be stored and counted again.
func retainChanges(subject string, was, is *eventType, now time.Time) []ChangeReport {
	longer, less := false, false
	for _, span := range lifespans(was, is) {
		before, after := was.retainAt(span.from), is.retainAt(span.from)
		if after != 0 && !span.to.IsZero() && !span.to.Add(after).After(now) {
			continue // all these events are past their time under the new file too
		}
		longer = longer || shorter(before, after) && !span.from.After(now)
		less = less || shorter(after, before)
	}
	report := ChangeReport{IdentityChange, subject, "retain", retainText(was), retainText(is), ""}
	if report.Old == report.New {
		report.Member, report.Old, report.New = "was", wasText(was.was), wasText(is.was)
	}
	var list []ChangeReport
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

func retainText(t *eventType) string {
	if t.retain == 0 {
		return ""
	}
	return formatDuration(t.retain)
}

// span is the event times from `from` until before `to`, for all of which one retain holds. Zero: without end.
type span struct{ from, to time.Time }

// lifespans cuts time where either version changes how long events live.
func lifespans(was, is *eventType) []span {
	cuts := []time.Time{{}}
	for _, w := range slices.Concat(was.was, is.was) {
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

// neededWas is the shortest list under which no event of a time until the deployment lives longer than before. Its new
// entry ends with the day after tomorrow: some time for the deployment, and for events that are a little ahead.
func neededWas(was, is *eventType, now time.Time) []WasSpec {
	list := slices.Concat(is.was, was.was)
	if was.retain != 0 {
		list = append(list, WasSpec{was.retain, now.UTC().Truncate(day).Add(2 * day)})
	}
	slices.SortFunc(list, func(a, b WasSpec) int { return a.Before.Compare(b.Before) })
	var needed []WasSpec
	for i, w := range list {
		covered := slices.ContainsFunc(list[i+1:], func(later WasSpec) bool { return later.Retain <= w.Retain })
		over := is.retain != 0 && !w.Before.Add(is.retain).After(now)
		if !covered && !over && shorter(w.Retain, is.retain) {
			needed = append(needed, w)
		}
	}
	return needed
}
