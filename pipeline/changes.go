package pipeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/keys"
)

// ChangeKind says what a change of the file means for what is already stored.
type ChangeKind string

// The kinds of change.
const (
	// IdentityChange: redelivered messages of a live type become other items, or are judged by another
	// digest. Do says whether the queue and the dead-letter queue must be drained first.
	IdentityChange ChangeKind = "identity"
	// GenerationChange: an aggregate counts in another way under the same name and since. The streams
	// function would refuse to start.
	GenerationChange ChangeKind = "generation"
	// EpochChange: the epoch is lower than before, or too low for what was added.
	EpochChange ChangeKind = "epoch"
	// IndexChange: items that are stored keep the index key they have. Nothing is refused or lost by it, but who
	// reads the index finds them under the old key only.
	IndexChange ChangeKind = "index"
	// RebuildChange: an aggregate begins anew and counts what is stored from now on. The events that are stored
	// already must be brought in after the deployment, or it lacks them.
	RebuildChange ChangeKind = "rebuild"
	// LifetimeChange: items that are stored live on after the totals that count them.
	LifetimeChange ChangeKind = "lifetime"
)

// ChangeReport is one change between two versions of a file that touches what is stored or under way.
type ChangeReport struct {
	Kind    ChangeKind
	Subject string // "events.order.placed" or "aggregates.merchant_daily"; "epoch", "type"
	Member  string // what changed: "id", "key.sk", "window"; empty for the subject itself
	Old     string // empty: it was not there
	New     string // empty: it is gone
	Do      string // what to do before deploying it, or that nothing need be done
}

// String is "events.order.placed: key.sk was X and is Y; drain …". What is as it was only "is Y".
func (c ChangeReport) String() string {
	name := c.Subject
	if c.Member != "" {
		name += ": " + c.Member
	}
	if c.Old == c.New {
		return fmt.Sprintf("%s is %s; %s", name, c.New, c.Do)
	}
	return fmt.Sprintf("%s was %s and is %s; %s", name, orNothing(c.Old), orNothing(c.New), c.Do)
}

func orNothing(s string) string {
	if s == "" {
		return "not there"
	}
	return s
}

const (
	drainFirst = "drain the queue and redrive its dead-letter queue before deploying: a message delivered again afterwards would become another item"
	ignoreMore = "nothing need be drained: digests of what is stored are computed anew under today's ignore, and what is in quarantine as a conflict for such a path can be sent again"
	ignoreLess = "drain the queue and redrive its dead-letter queue before deploying: an event sent again that differs in such a path alone would be a conflict afterwards"
	rebuild    = "after deploying it, bring in the events that are stored, if there are any (\"Adding an aggregate\" in the operating guide): until then it counts newer ones alone, and reads say that it is building"
	tiesMore   = "nothing need be drained and no epoch raised: ties with what is stored are broken by what its payload says. While functions of before run beside new ones, such an event is still a Conflict; from quarantine it can be sent again"
	tiesLess   = "drain the queue and redrive its dead-letter queue before deploying: events whose revisions are equal but for such a field would be Conflicts afterwards, or be ordered otherwise"
	raiseEpoch = "raise epoch and give the aggregate that epoch as its since"
)

// identityAdvice is what each identity member breaks, where draining is not the whole of it.
var identityAdvice = map[string]string{
	"mode": drainFirst + "; items stored so far have no revision",
}

// Changes lists what has changed from old to new that touches identity, generations, lifetimes or stored index keys,
// and what to do first: identity by type, then aggregates by name, then their lifetimes, then indexes by type. If there
// is nothing but indexes and aggregates to rebuild, new can simply be deployed. Deployment is taken to be after now: what an event type's `was`
// says holds for the events of until then.
func Changes(old, new *Pipeline, now time.Time) []ChangeReport {
	var list []ChangeReport
	if a, b := canonicalTemplates(old.typ), canonicalTemplates(new.typ); !slices.Equal(a, b[:min(len(a), len(b))]) {
		list = append(list, ChangeReport{IdentityChange, "type", "", listText(a), listText(b), drainFirst})
	}
	for _, name := range old.names {
		list = append(list, identityChanges(name, old.types[name], new.types[name], now)...)
	}
	if new.epoch < old.epoch {
		list = append(list, ChangeReport{EpochChange, "epoch", "", fmt.Sprint(old.epoch), fmt.Sprint(new.epoch), "an epoch is only ever raised: to go back, put the old definitions under a higher epoch"})
	}
	list = append(list, generationChanges(old, new)...)
	list = append(list, lifetimeChanges(old, new)...)
	for _, name := range old.names {
		list = append(list, indexChanges(name, old.types[name], new.types[name])...)
	}
	return list
}

const indexKeys = "items that are stored keep the key they have, until a newer revision replaces them or they expire: read both till then"

// indexChanges reports keys of indexes that a type is in before and after. One that is added or taken out is told by
// the index itself, which lacks the older items or the newer ones.
func indexChanges(name string, was, is *eventType) []ChangeReport {
	if is == nil {
		return nil
	}
	var list []ChangeReport
	for _, i := range was.indexes {
		n := slices.IndexFunc(is.indexes, func(other index) bool { return other.name == i.name })
		if n < 0 {
			continue
		}
		for _, part := range []struct {
			member  string
			was, is *keys.Template
		}{{"pk", i.pk, is.indexes[n].pk}, {"sk", i.sk, is.indexes[n].sk}} {
			if a, b := canonicalTemplate(part.was), canonicalTemplate(part.is); a != b {
				list = append(list, ChangeReport{IndexChange, "events." + name, "indexes." + i.name + "." + part.member, a, b, indexKeys})
			}
		}
	}
	return list
}

func identityChanges(name string, was, is *eventType, now time.Time) []ChangeReport {
	subject := "events." + name
	if is == nil {
		return []ChangeReport{{IdentityChange, subject, "", "declared", "", "drain the queues before deploying: its messages would be quarantined, and its items would no longer be counted"}}
	}
	var list []ChangeReport
	for _, member := range []string{"id", "at", "key.pk", "key.sk", "mode"} {
		if a, b := was.identity[member], is.identity[member]; a != b {
			list = append(list, ChangeReport{IdentityChange, subject, member, a, b, cmp.Or(identityAdvice[member], drainFirst)})
		}
	}
	if do := revisionAdvice(was, is); do != "" {
		list = append(list, ChangeReport{IdentityChange, subject, "revision", was.identity["revision"], is.identity["revision"], do})
	}
	list = append(list, retainChanges(subject, was, is, now)...)
	if do := ignoreAdvice(was, is); do != "" {
		list = append(list, ChangeReport{IdentityChange, subject, "ignore", was.identity["ignore"], is.identity["ignore"], do})
	}
	return list
}

// revisionAdvice is what a change of revision asks for; empty if it is the same.
func revisionAdvice(was, is *eventType) string {
	same := func(a, b revision) bool { return a.time == b.time && a.path.Equal(b.path) }
	kept := 0
	for kept < min(len(was.revision), len(is.revision)) && same(was.revision[kept], is.revision[kept]) {
		kept++
	}
	switch {
	case kept == len(was.revision) && kept == len(is.revision):
		return ""
	case kept == 0:
		return drainFirst + "; stored revisions are compared with new ones as they are"
	case kept == len(was.revision):
		return tiesMore
	}
	return tiesLess
}

// ignoreAdvice is what a change of ignore asks for; empty if the same is ignored.
func ignoreAdvice(was, is *eventType) string {
	more, less := !ignoresAll(was, is.ignore), !ignoresAll(is, was.ignore)
	switch {
	case !more && !less:
		return ""
	case was.placedByDigest() || is.placedByDigest():
		return drainFirst
	case less:
		return ignoreLess
	}
	return ignoreMore
}

// ignoresAll reports whether t leaves every one of paths out of the digest.
func ignoresAll(t *eventType, paths []event.Path) bool {
	for _, path := range paths {
		if !slices.ContainsFunc(t.ignore, func(ignored event.Path) bool { return ignored.Contains(path) }) {
			return false
		}
	}
	return true
}

// placedByDigest reports whether another digest means another item.
func (t *eventType) placedByDigest() bool {
	return slices.ContainsFunc([]*keys.Template{t.id, t.pk, t.sk}, func(tpl *keys.Template) bool {
		return tpl != nil && slices.Contains(tpl.Derived(), "@digest")
	})
}

// generationChanges reports definitions that changed under the same name and since, that are gone, and
// that are new without a new epoch. A definition with a higher since is a new generation, as it should be.
func generationChanges(old, new *Pipeline) []ChangeReport {
	var list []ChangeReport
	for _, def := range new.definitions {
		subject := "aggregates." + def.Name
		was, had := old.Definition(def.Name)
		switch {
		case had && was.Since == def.Since:
			list = append(list, definitionChanges(subject, was.Text, def.Text)...)
		case def.Since <= old.epoch:
			list = append(list, ChangeReport{EpochChange, subject, "since", sinceText(was), sinceText(def),
				fmt.Sprintf("write epoch: %d and since: %d: items of the epochs before were not counted by it", old.epoch+1, old.epoch+1)})
		default:
			list = append(list, ChangeReport{RebuildChange, subject, "since", sinceText(was), sinceText(def), rebuild})
		}
	}
	for _, was := range old.definitions {
		if _, ok := new.Definition(was.Name); !ok {
			list = append(list, ChangeReport{GenerationChange, "aggregates." + was.Name, "", "declared", "", takenOut(old, new)})
		}
	}
	slices.SortStableFunc(list, func(a, b ChangeReport) int { return strings.Compare(a.Subject, b.Subject) })
	return list
}

// takenOut is what an aggregate that is declared no longer asks for: without a new epoch the streams function could
// not tell a pipeline that lets it go from one that has not heard of it yet.
func takenOut(old, new *Pipeline) string {
	const after = "its totals stand still from then on, and to count again it needs a new since"
	if new.epoch > old.epoch {
		return "nothing need be done first: " + after
	}
	return fmt.Sprintf("write epoch: %d to take it out; %s", old.epoch+1, after)
}

// definitionChanges compares two canonical texts of one generation, member by member.
func definitionChanges(subject, was, is string) []ChangeReport {
	before, after := definitionMembers(was), definitionMembers(is)
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	var list []ChangeReport
	for _, name := range slices.Compact(names) {
		if before[name] != after[name] {
			list = append(list, ChangeReport{GenerationChange, subject, name, before[name], after[name], raiseEpoch})
		}
	}
	return list
}

func sinceText(d *aggregate.Definition) string {
	if d == nil {
		return ""
	}
	return fmt.Sprint(d.Since)
}
