// Package changes compares two versions of pipeline.yaml. [Between] says what their difference
// means for events that are stored or under way, and what to do before the new version is deployed.
package changes

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
)

// Kind says what a change of the file means for what is already stored.
type Kind string

// These are the kinds of change.
const (
	// Identity means that redelivered messages of a live type become other items, or are judged by
	// another digest. Do says whether the queue and the dead-letter queue must be drained first.
	Identity Kind = "identity"
	// Generation means that an aggregate counts in another way under the same name and since. The
	// streams function would refuse to start.
	Generation Kind = "generation"
	// Epoch means that the epoch is lower than before, or too low for what was added.
	Epoch Kind = "epoch"
	// Index means that stored items keep the index key that they have. Nothing is refused or lost.
	// But a reader of the index finds these items only under the old key.
	Index Kind = "index"
	// Shards means that an index is divided into fewer shards. Readers of the index would no longer
	// find the items in the others.
	Shards Kind = "shards"
	// Rebuild means that an aggregate starts again and counts events from now on. Events that are
	// already stored must be added by a rebuild after the deployment. It also means that a new type
	// is a part of an old one: stored events have no such parts yet.
	Rebuild Kind = "rebuild"
	// Lifetime means that stored items outlive the totals that count them, or their payloads.
	Lifetime Kind = "lifetime"
	// Schema means that messages are checked against another schema, or need other events. Stored
	// events, keys and digests do not change.
	Schema Kind = "schema"
)

// Change is one change between two versions of a file that affects what is stored or under way.
type Change struct {
	Kind    Kind
	Subject string // "events.order.placed" or "aggregates.merchant_daily"; "epoch", "type"
	Member  string // what changed: "id", "key.sk", "window"; empty for the subject itself
	Old     string // empty: it was not there
	New     string // empty: it is gone
	Do      string // what to do before deploying it, or that nothing needs to be done
}

// String returns "events.order.placed: key.sk was X and is Y; drain …". If the value did not
// change, it says only "is Y".
func (c Change) String() string {
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
	drainFirst = "drain the queue and redrive its dead-letter queue before deploying: a message delivered again afterwards would become " +
		"another item"
	laterAt = ". An event whose time becomes later also expires later: if it has expired and is sent again, it would be stored and " +
		"counted twice, whether the queue is drained or not"
	drainArrays = "drain the queue, redrive its dead-letter queue and send again what is in quarantine before deploying: a message that " +
		"is an array of events would be Poison afterwards, and so would its events that are not stored yet"
	drainParts = "drain the queue and redrive its dead-letter queue before deploying: a message delivered again afterwards would yield " +
		"items that differ from the stored ones"
	staysThere = ". Parts that are stored keep their keys: if the key of a part is now another, verify counts the part as missing, and " +
		"ingot rebuild parts would store it a second time, and count it twice. Declare the changed part under another name instead"
	atomically = "drain the queue and redrive its dead-letter queue before deploying: while old functions run beside new ones, a part " +
		"may be refused after its whole is stored"
	putParts = "after deploying both functions, put the parts of the events that are stored already: ingot rebuild parts. Until " +
		"then, verify counts these parts as missing"
	noRevision = "; items stored so far have no revision"
	ignoreMore = "nothing needs to be drained: digests of stored events are computed again under today's ignore, and a message that is " +
		"in quarantine as a conflict because of such a path can be sent again"
	ignoreLess = "drain the queue and redrive its dead-letter queue before deploying: an event that is sent again and differs only in " +
		"such a path would be a conflict afterwards"
	tiesMore = "nothing needs to be drained and no epoch raised: the stored payload breaks ties with stored events. While old " +
		"functions run beside new ones, such an event is still a Conflict; it can be sent again from quarantine"
	tiesLess = "drain the queue and redrive its dead-letter queue before deploying: events whose revisions differ only in such a field " +
		"would be Conflicts afterwards, or be in another order"
	newSchema = "nothing needs to be drained and no epoch raised: keys and digests stay, and stored events are not checked again. A " +
		"message that the new schema refuses is Poison, even if it repeats a stored event"
	newRequires = "nothing needs to be drained and no epoch raised: stored events stay, and a message that repeats one is a Duplicate. " +
		"Other messages wait for what they require from now on"
	raiseEpoch = "raise epoch and give the aggregate that epoch as its since"
)

var rebuild = "after deploying it, bring in the events that are stored, if there are any: until then it counts only newer ones, " +
	"and reads say that it is building; " + excerpt.Page("deploy.md#adding-an-aggregate") + " says how"

// Between lists the changes from old to new that affect identity, generations, lifetimes or stored
// index keys, and what to do first. The order is: identity by type, then aggregates by name, then
// their lifetimes, then indexes by type, then schemas by type. If there are only indexes and
// schemas, and aggregates to rebuild, new can simply be deployed. Between assumes that the
// deployment is after now: an event type's `was` covers the events until then.
func Between(old, new *pipeline.Pipeline, now time.Time) []Change {
	was, is := old.Describe().Spec, new.Describe().Spec
	var list []Change
	if a, b := typesOf(was), typesOf(is); !slices.Equal(a, b[:min(len(a), len(b))]) {
		list = append(list, Change{Identity, "type", "", listText(lines(was.Type)), listText(lines(is.Type)), drainFirst})
	}
	list = append(list, severalChanges(was, is)...)
	for _, name := range sorted(was.Events) {
		list = append(list, identityChanges(name, was, is, now)...)
	}
	for _, name := range sorted(is.Events) {
		_, had := was.Events[name]
		if _, stored := was.Events[is.Events[name].Part.Of]; stored && !had {
			list = append(list, Change{Rebuild, "events." + name, "part", "", partText(is.Events[name].Part), putParts})
		}
	}
	if is.Epoch < was.Epoch {
		list = append(list, Change{Epoch, "epoch", "", fmt.Sprint(was.Epoch), fmt.Sprint(is.Epoch),
			"an epoch is only ever raised: to go back, put the old definitions under a higher epoch"})
	}
	list = append(list, firstUse(was, is, "compress", "of a version that cannot read compressed payloads", compressed,
		func(e pipeline.EventSpec) string { return trueText(e.Compress) })...)
	list = append(list, firstUse(was, is, "mode", "of a version that does not know parts with mode latest", state,
		func(e pipeline.EventSpec) string { return e.Mode })...)
	list = append(list, firstUse(was, is, "offload", "that does not know where payloads are", offloaded, offloadText)...)
	list = append(list, offloadChanges(was, is)...)
	list = append(list, generationChanges(was, is)...)
	list = append(list, lifetimeChanges(was, is)...)
	list = append(list, payloadLifetimes(was, is)...)
	for _, name := range sorted(was.Events) {
		list = append(list, indexChanges(name, was, is)...)
	}
	for _, name := range sorted(was.Events) {
		if after, kept := is.Events[name]; kept && was.Events[name].Schema != after.Schema {
			list = append(list, Change{Schema, "events." + name, "schema", schemaText(was.Events[name]), schemaText(after), newSchema})
		}
		before, now := requiresText(was.Events[name]), requiresText(is.Events[name])
		if _, kept := is.Events[name]; kept && before != now {
			list = append(list, Change{Schema, "events." + name, "requires", before, now, newRequires})
		}
	}
	return list
}

// schemaText names a schema. Its text would be too long for a line.
func schemaText(s pipeline.EventSpec) string {
	if s.Schema == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(s.Schema))
	return fmt.Sprintf("a schema with digest %x", sum[:4])
}

func sorted[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// lines returns the texts of a member that may be a list.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// listText returns one text, or several texts as the file may list them.
func listText(texts []string) string {
	if len(texts) < 2 {
		return strings.Join(texts, "")
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// requiresText returns what a type requires, as the file writes it.
func requiresText(s pipeline.EventSpec) string {
	texts := make([]string, len(s.Requires))
	for i, r := range s.Requires {
		var fields []string
		for _, name := range sorted(r.Key) {
			fields = append(fields, name+": "+strconv.Quote(r.Key[name]))
		}
		texts[i] = "{type: " + r.Type + ", key: {" + strings.Join(fields, ", ") + "}}"
	}
	return strings.Join(texts, ", ")
}

// partText returns what makes a type a part, as the file writes it.
func partText(p pipeline.PartSpec) string {
	var members []string
	if p.Of != "" {
		members = append(members, "of: "+p.Of)
	}
	if p.Each != "" {
		members = append(members, "each: "+p.Each)
	}
	if len(p.With) > 0 {
		with := "[" + strings.Join(p.With, ", ") + "]"
		if strings.Contains(with, "=") {
			with = "{" + strings.ReplaceAll(strings.Join(p.With, ", "), "=", ": ") + "}"
		}
		members = append(members, "with: "+with)
	}
	if len(members) == 0 {
		return ""
	}
	return "{" + strings.Join(members, ", ") + "}"
}

func trueText(holds bool) string {
	if holds {
		return "true"
	}
	return ""
}

// firstUse reports types that begin, without a new epoch, to be what no type was before: functions
// that do not know it, as who says, need a higher stamp to see that an item is newer than they are.
// text is what the file says of it.
func firstUse(old, new pipeline.Spec, member, who string, is func(pipeline.EventSpec) bool, text func(pipeline.EventSpec) string) []Change {
	if new.Epoch != old.Epoch {
		return nil
	}
	for _, e := range old.Events {
		if is(e) {
			return nil
		}
	}
	var list []Change
	for _, name := range sorted(new.Events) {
		if is(new.Events[name]) {
			list = append(list, Change{Epoch, "events." + name, member, text(old.Events[name]), text(new.Events[name]),
				fmt.Sprintf("write epoch: %d: a function %s must see that these items are newer than itself", old.Epoch+1, who)})
		}
	}
	return list
}

func compressed(e pipeline.EventSpec) bool { return e.Compress }
func state(e pipeline.EventSpec) bool      { return e.Part.Of != "" && e.Mode == "latest" }
func offloaded(e pipeline.EventSpec) bool  { return e.Offload.Over > 0 }

// offloadChanges reports types that are no longer offloaded, because their stored events still need
// the bucket.
//
// No other change of what items keep is reported. An item keeps what its own file used. A new
// generation has a higher epoch, and the touch pass brings each item what the new file uses.
func offloadChanges(old, new pipeline.Spec) []Change {
	for _, e := range new.Events {
		if offloaded(e) {
			return nil
		}
	}
	var list []Change
	for _, name := range sorted(new.Events) {
		if was := old.Events[name]; offloaded(was) {
			list = append(list, Change{Rebuild, "events." + name, "offload", offloadText(was), "",
				"leave INGOT_PAYLOAD_BUCKET, the bucket and its rights as they are until the last offloaded event has expired and " +
					"is archived"})
		}
	}
	return list
}

func offloadText(e pipeline.EventSpec) string {
	if !offloaded(e) {
		return ""
	}
	return fmt.Sprintf("{over: %dKB}", e.Offload.Over>>10)
}

func identityChanges(name string, old, new pipeline.Spec, now time.Time) []Change {
	subject := "events." + name
	was := old.Events[name]
	is, kept := new.Events[name]
	if !kept {
		return []Change{{Identity, subject, "", "declared", "",
			"drain the queues before deploying: its messages would be quarantined, and its items would no longer be counted"}}
	}
	var list []Change
	stays := ""
	if was.Part.Of != "" && is.Part.Of != "" {
		stays = staysThere
	}
	for _, m := range []struct{ member, was, is, do string }{
		{"id", was.ID, is.ID, drainFirst + stays}, {"at", was.At, is.At, atAdvice(was)},
		{"key.pk", was.Key.PK, is.Key.PK, drainFirst + stays}, {"key.sk", was.Key.SK, is.Key.SK, drainFirst + stays},
		{"mode", was.Mode, is.Mode, drainFirst + noRevision},
		{"part", partText(was.Part), partText(is.Part), drainParts + stays},
		{"atomic", trueText(was.Atomic), trueText(is.Atomic), atomically},
		{"revision", listText(lines(was.Revision)), listText(lines(is.Revision)), revisionAdvice(lines(was.Revision), lines(is.Revision))},
	} {
		if m.was != m.is {
			list = append(list, Change{Identity, subject, m.member, m.was, m.is, m.do})
		}
	}
	list = append(list, retainChanges(subject, was, is, now)...)
	list = append(list, expiresChanges(subject, was, is, now)...)
	if do := ignoreAdvice(was, is); do != "" {
		list = append(list, Change{Identity, subject, "ignore", strings.Join(was.Ignore, ", "), strings.Join(is.Ignore, ", "), do})
	}
	return list
}

// atAdvice returns what to do about a change of at.
func atAdvice(was pipeline.EventSpec) string {
	if was.Retain == 0 && len(was.Was) == 0 {
		return drainFirst // nothing has expired
	}
	return drainFirst + laterAt
}

// revisionAdvice returns what to do about a change of revision.
func revisionAdvice(was, is []string) string {
	kept := 0
	for kept < min(len(was), len(is)) && was[kept] == is[kept] {
		kept++
	}
	switch {
	case kept == 0:
		return drainFirst + "; stored revisions are compared with new ones as they are"
	case kept == len(was):
		return tiesMore
	}
	return tiesLess
}

// ignoreAdvice returns what to do about a change of ignore. It is empty if the same paths are
// ignored.
func ignoreAdvice(was, is pipeline.EventSpec) string {
	more, less := !ignoresAll(was, is.Ignore), !ignoresAll(is, was.Ignore)
	switch {
	case !more && !less:
		return ""
	case placedByDigest(was) || placedByDigest(is):
		return drainFirst
	case less:
		return ignoreLess
	}
	return ignoreMore
}

// ignoresAll reports whether s leaves all of paths out of the digest.
func ignoresAll(s pipeline.EventSpec, paths []string) bool {
	for _, text := range paths {
		path, _ := event.ParseEvery(text) // no error: it was compiled
		if !slices.ContainsFunc(s.Ignore, func(text string) bool {
			ignored, err := event.ParseEvery(text)
			return err == nil && ignored.Contains(path)
		}) {
			return false
		}
	}
	return true
}

// placedByDigest reports whether another digest makes another item.
func placedByDigest(s pipeline.EventSpec) bool {
	return slices.ContainsFunc([]string{s.ID, s.Key.PK, s.Key.SK}, func(text string) bool {
		t, err := keys.ParseTemplate(text)
		return err == nil && slices.Contains(t.Derived(), "@digest")
	})
}

// generationChanges reports definitions that changed under the same name and since, definitions
// that are gone, and definitions that are new without a new epoch. A definition with a higher since
// is a new generation, which is correct.
func generationChanges(old, new pipeline.Spec) []Change {
	var list []Change
	for _, name := range sorted(new.Aggregates) {
		subject, def := "aggregates."+name, new.Aggregates[name]
		was, had := old.Aggregates[name]
		before, now := fmt.Sprint(was.Since), fmt.Sprint(def.Since)
		if !had {
			before = ""
		}
		switch {
		case had && was.Since == def.Since:
			list = append(list, definitionChanges(subject, members(was), members(def))...)
		case def.Since <= old.Epoch:
			list = append(list, Change{Epoch, subject, "since", before, now,
				fmt.Sprintf("write epoch: %d and since: %d: it has not counted the items of earlier epochs", old.Epoch+1, old.Epoch+1)})
		default:
			list = append(list, Change{Rebuild, subject, "since", before, now, rebuild})
		}
	}
	for _, name := range sorted(old.Aggregates) {
		if _, kept := new.Aggregates[name]; !kept {
			list = append(list, Change{Generation, "aggregates." + name, "", "declared", "", takenOut(old, new)})
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int { return strings.Compare(a.Subject, b.Subject) })
	return list
}

// takenOut returns what to do about an aggregate that is no longer declared. Without a new epoch
// the streams function could not tell a pipeline that removes the aggregate from one that does not
// know it yet.
func takenOut(old, new pipeline.Spec) string {
	const after = "its totals stand still from then on, and to count again it needs a new since"
	if new.Epoch > old.Epoch {
		return "nothing needs to be done first: " + after
	}
	return fmt.Sprintf("write epoch: %d to take it out; %s", old.Epoch+1, after)
}

// definitionChanges compares one generation before and after, member by member.
func definitionChanges(subject string, before, after map[string]string) []Change {
	names := slices.AppendSeq(slices.Collect(maps.Keys(before)), maps.Keys(after))
	slices.Sort(names)
	var list []Change
	for _, name := range slices.Compact(names) {
		if before[name] != after[name] {
			list = append(list, Change{Generation, subject, name, before[name], after[name], raiseEpoch})
		}
	}
	return list
}

// members splits an aggregate into its members: "by.merchant", "from.order.placed.where", "window"
// and so on, as the file writes them. It leaves out members without a value.
func members(a pipeline.AggregateSpec) map[string]string {
	list := map[string]string{"onExpire": a.OnExpire, "spread": fmt.Sprint(a.Spread)}
	list["movedBy"] = a.MovedBy
	for member, limits := range map[string]map[string]event.Decimal{"atLeast": a.AtLeast, "atMost": a.AtMost} {
		for name, limit := range limits {
			list[member+"."+name] = limit.String()
		}
	}
	if a.Rank.Value != "" {
		list["rank.value"], list["rank.shards"] = a.Rank.Value, fmt.Sprint(a.Rank.Shards)
		if a.Rank.Within != nil {
			list["rank.within"] = strings.Join(a.Rank.Within, ", ")
		}
	}
	for name, template := range a.By {
		list["by."+name] = template
	}
	for name, from := range a.From {
		if from.Where != "" {
			list["from."+name+".where"] = from.Where
		}
		for value, expression := range from.Values {
			list["from."+name+".values."+value] = expression
		}
	}
	for name, d := range map[string]time.Duration{"retain": a.Retain, "window": a.Window} {
		if d != 0 {
			list[name] = lifetime.FormatWindow(d)
		}
	}
	return list
}
