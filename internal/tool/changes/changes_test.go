package changes

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/pipeline"
)

// deployed is when the tests check the changes, just before they are deployed.
var deployed = must.Time("2026-03-01T10:00:00Z")

func mustLoad(t testing.TB, text string) *pipeline.Pipeline {
	t.Helper()
	return written.Pipeline(t, text, pipeline.CheckOnly())
}

// reported fails unless one change from a file to another is reported, in words that begin with
// want, or none if want is empty.
func reported(t *testing.T, was, is, want string) {
	t.Helper()
	list := Between(mustLoad(t, was), mustLoad(t, is), deployed)
	if want == "" && len(list) > 0 || want != "" && (len(list) != 1 || !strings.HasPrefix(list[0].String(), want)) {
		t.Errorf("%s\nbecame\n%s: %v, want %q", was, is, list, want)
	}
}

func TestChanges(t *testing.T) {
	file := must.Read(t, "../../../pipeline/testdata/base.yaml")
	base := string(file)
	for _, c := range []struct {
		name, old, new string
		want           []string // the beginning of every report
	}{
		{"nothing", "", "", nil},
		{"layout and comments", "    retain: 90d", "    # kept for long\n    retain:   90d", nil},
		{"another unit", "retain: 400d", "retain: 9600h", nil},
		{"spaces in a template", `{@at | day}`, `{@at|day}`, nil},
		{"spaces in an id", `id: "{parcel}"`, `id: "{ parcel }"`, nil},
		{"an index", `{@at | day}`, `{@at | hour}`, []string{"events.placed: indexes.GSI1.pk was "}},
		{"an attribute", "{status: status}", "{status: state}", nil},
		{"the order of ignore", "[trace]", "[trace, trace]", nil},
		{"parentheses in where", "where: total > 0", "where: (total > 0.0)", nil},
		{"type", `type: "{type}"`, `type: "{kind}"`, []string{"type was {type} and is {kind}; drain"}},
		{"id", `id: "{parcel}"`, `id: "P{parcel}"`, []string{"events.moved: id was {parcel} and is P{parcel}; drain"}},
		{"at", `at: "{moved_at}"`, `at: "{moved_at | unix}"`, []string{"events.moved: at was {moved_at} and is {moved_at|unix}; drain"}},
		{"key", `sk: "-"`, `sk: "{parcel}"`, []string{"events.moved: key.sk was - and is {parcel}; drain"}},
		{"retain", "retain: 90d", "retain: 91d", []string{"events.placed: retain was 90d and is 91d; write was: [{retain: 90d, before: " +
			"2026-03-03T00:00:00Z}] in this event type: without it "}},
		{"no retain", "revision: moved_at time", "revision: moved_at time\n    retain: 1d",
			[]string{"events.moved: retain was not there and is 1d"}},
		{"revision", "moved_at time", "moved_no number", []string{"events.moved: revision was moved_at time and is moved_no number"}},
		{"ignore more", "[trace]", "[trace, sent]",
			[]string{"events.placed: ignore was trace and is sent, trace; nothing needs to be drained"}},
		{"ignore something else", "[trace]", "[sent]",
			[]string{"events.placed: ignore was trace and is sent; drain the queue and redrive its dead-letter queue before"}},
		{"ignore nothing", "    ignore: [trace]\n", "", []string{"events.placed: ignore was trace and is not there; drain"}},
		{"ignore less of it", "[trace]", "[trace.id]", []string{"events.placed: ignore was trace and is trace.id; drain"}},
		{"ignore a part of what is ignored", "[trace]", "[trace, trace.id]", nil},
		{"epoch lowered", "epoch: 2", "epoch: 1", []string{"epoch was 2 and is 1; an epoch is only ever raised"}},
		{"where", "total > 0", "total > 1", []string{"aggregates.daily: from.placed.where was total > 0 and is total > 1; raise epoch"}},
		{"spread", "spread: 4", "spread: 5", []string{"aggregates.daily: spread was 4 and is 5; raise"}},
		{"a value", "count, revenue", "count, more: sum total, revenue",
			[]string{"aggregates.daily: from.placed.values.more was not there and is sum total; raise"}},
		{"arrays of events", "epoch: 2", "epoch: 2\nbatches: true", nil},
		{"compress", "    retain: 90d", "    retain: 90d\n    compress: true",
			[]string{"events.placed: compress was not there and is true; write epoch: 3: a function of a version"}},
		{"a state", "aggregates:\n", "  last:\n    part: {of: placed, with: [shop]}\n    id: \"{shop}\"\n" +
			"    key: {pk: \"SHOP#{shop}\", sk: LAST}\n    mode: latest\n    revision: \"{@at}\"\naggregates:\n",
			[]string{"events.last: part was not there and is {of: placed, with: [shop]}; after deploying both functions",
				"events.last: mode was not there and is latest; write epoch: 3: a function of a version that does not know parts"}},
		{"offload", "    retain: 90d", "    retain: 90d\n    offload: {over: 64KB}",
			[]string{"events.placed: offload was not there and is {over: 64KB}; write epoch: 3: a function that does not know where " +
				"payloads are"}},
		{"a schema", "    retain: 90d", "    retain: 90d\n    schema: '{\"required\": [\"shop\"]}'",
			[]string{"events.placed: schema was not there and is a schema with digest 7794a0f9; nothing needs to be drained and no " +
				"epoch raised"}},
		{"no window", "    window: 1d\n", "    window: 2h\n", []string{"aggregates.daily: window was 1d and is 2h; raise"}},
		{"by", `by: {shop: "{shop}"}`, `by: {store: "{shop}"}`, []string{"aggregates.daily: by.shop was {shop} and is not there; raise",
			"aggregates.daily: by.store was not there and is {shop}"}},
		{"a new generation", "epoch: 2", "epoch: 3", nil},
		{"an aggregate gone", base[strings.Index(base, "  live:"):], "",
			[]string{"aggregates.live was declared and is not there; write epoch: 3 to take it out; "}},
		{"an aggregate gone with a new epoch", base, strings.Replace(base[:strings.Index(base, "  live:")], "epoch: 2", "epoch: 3", 1),
			[]string{"aggregates.live was declared and is not there; nothing needs to be done first: "}},
		{"an aggregate without a new epoch", "  live:",
			"  later:\n    since: 2\n    from:\n      moved: {values: {parcels: count}}\n    onExpire: subtract\n  live:",
			[]string{"aggregates.later: since was not there and is 2; write epoch: 3 and since: 3"}},
		{"an aggregate with a new epoch", "  live:\n    since: 1", "  live:\n    since: 3",
			[]string{"aggregates.live: since was 1 and is 3; after deploying it, bring in the events that are stored"}},
		{"an event type gone", "  placed:\n", "  placed2:\n", []string{"events.placed was declared and is not there; drain",
			"aggregates.daily: from.placed.values.largest was", "aggregates.daily: from.placed.values.orders was",
			"aggregates.daily: from.placed.values.revenue was", "aggregates.daily: from.placed.where was", "aggregates.daily: from.placed2",
			"", "", ""}},
	} {
		old := mustLoad(t, base)
		text := strings.Replace(base, c.old, c.new, 1)
		if strings.Contains(text, "since: 3") {
			text = strings.Replace(text, "epoch: 2", "epoch: 3", 1)
		}
		if c.name == "epoch lowered" {
			text = strings.Replace(text, "since: 2", "since: 1", 1)
			old = mustLoad(t, strings.Replace(base, "since: 2", "since: 1", 1))
		}
		if c.name == "an event type gone" {
			text = strings.Replace(text, "placed: {where", "placed2: {where", 1)
		}
		reports := Between(old, mustLoad(t, text), deployed)
		if len(reports) != len(c.want) {
			t.Errorf("%s: %v", c.name, reports)
			continue
		}
		for i, want := range c.want {
			if !strings.HasPrefix(reports[i].String(), want) {
				t.Errorf("%s: %s, want %s…", c.name, reports[i], want)
			}
		}
	}
}

func TestChangesOfMode(t *testing.T) {
	was := mustLoad(t, "ingot: 1\nepoch: 1\ntype: a\nevents: {a: {id: '{n}', at: '{t}', key: {pk: '{n}', sk: '-'}}}\n")
	is := mustLoad(t,
		"ingot: 1\nepoch: 1\ntype: a\nevents: {a: {id: '{n}', at: '{t}', key: {pk: '{n}', sk: '-'}, mode: latest, revision: r number}}\n")
	reports := Between(was, is, deployed)
	if len(reports) != 2 || reports[0].Member != "mode" || reports[0].Kind != Identity || reports[1].Member != "revision" {
		t.Errorf("%v", reports)
	}
}

// If the digest makes the id or the key, ignoring more makes another item of the same message.
func TestChangesOfIgnoreUnderADigest(t *testing.T) {
	for _, file := range []string{
		"events: {a: {id: '{@digest}', at: '{t}', key: {pk: '{@id}', sk: '-'}, ignore: [x]}}\n",
		"events: {a: {id: '{n}', at: '{t}', key: {pk: '{n}', sk: '{@digest}'}, ignore: [x]}}\n",
	} {
		file = "ingot: 1\nepoch: 1\ntype: a\n" + file
		reports := Between(mustLoad(t, file), mustLoad(t, strings.Replace(file, "[x]", "[x, y]", 1)), deployed)
		if len(reports) != 1 || reports[0].Member != "ignore" || reports[0].Do != drainFirst {
			t.Errorf("%v", reports)
		}
	}
}

// Items keep the expiry that they were stored with. The rule of the payload bucket must not remove
// their payloads before that.
func TestChangesOfLifetimesOfPayloads(t *testing.T) {
	file := func(more string) *pipeline.Pipeline {
		return mustLoad(t, "ingot: 1\nepoch: 1\ntype: a\nevents: {a: {id: '{n}', at: '{t}', key: {pk: '{n}', sk: '-'}"+more+"}}\n")
	}
	const offload = ", offload: {over: 64KB}"
	for _, c := range []struct{ was, is, want string }{
		{", retain: 90d" + offload, ", retain: 30d" + offload, "events.a: offload.retain was 90d and is 30d; events that are stored keep " +
			"the expiry they have: leave the rule for a/ in the payload bucket as it is until they have expired, or it removes their " +
			"payloads first"},
		{", retain: 90d" + offload, ", retain: 30d", "events.a: offload.retain was 90d and is 30d; events that are stored keep"},
		{offload, ", retain: 30d" + offload, "events.a: offload.retain was not there and is 30d; events that are stored never expire: " +
			"write no rule for a/ in the payload bucket, whatever ingot check warns, until they are gone or have been given an expiry, " +
			"or it removes their payloads first"},
		{", retain: 30d" + offload, ", retain: 30d, offload: {over: 128KB}", ""},
		{", retain: 90d", ", retain: 30d, offload: {over: 64KB}", ""},
	} {
		var got string
		for _, r := range Between(file(c.was), file(c.is), deployed) {
			if r.Member == "offload.retain" {
				got = r.String()
				must.Equal(t, r.Kind, Lifetime, got)
			}
		}
		if !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s → %s:\n%q\nwant\n%q", c.was, c.is, got, c.want)
		}
	}
}

// Items keep the expiry that they were stored with. Totals that expire before them are named.
func TestChangesOfLifetimes(t *testing.T) {
	const file = "ingot: 1\nepoch: 2\ntype: \"{type}\"\nevents:\n  reading: {id: '{n}', at: '{t}', key: {pk: '{n}', sk: '-'}EVENTS}\n  other: {id: '{n}', at: '{t}', key: {pk: 'O#{n}', sk: '-'}, retain: 5d}\n" +
		"aggregates:\n  hourly: {since: SINCE, window: 1h, from: {reading: {values: {n_all: count}}, other: {values: {n_all: count}}}TOTALS}\n"
	text := func(events, totals, since string) string {
		return strings.NewReplacer("EVENTS", events, "TOTALS", totals, "SINCE", since).Replace(file)
	}
	const gone = ": their totals would be gone before they are, and a touch pass would count them into expired totals; write "
	for _, c := range []struct {
		name, was, is string
		want          string // "" means that there is no such report
	}{
		{"shortened under a shorter total", text(", retain: 90d", "", "1"), text(", retain: 30d", ", retain: 60d", "2"),
			"aggregates.hourly: retain was not there and is 60d; events of reading that are stored keep the expiry they have and " +
				"live for 90d" + gone + "retain: at least 97d"},
		{"shortened under a total as short as before", text(", retain: 90d", ", retain: 97d", "1"),
			text(", retain: 30d", ", retain: 97d", "1"), ""},
		{"one hour too short", text(", retain: 90d", ", retain: 97d", "1"), text(", retain: 30d", ", retain: 2327h", "2"),
			"aggregates.hourly: retain was 97d and is 2327h; events of reading that are stored keep the expiry they have and live for 90d" +
				gone + "retain: at least 97d"},
		{"just long enough", text(", retain: 90d", ", retain: 400d", "1"), text(", retain: 30d", ", retain: 97d", "2"), ""},
		{"introduced", text("", "", "1"), text(", retain: 30d", ", retain: 4000d", "2"),
			"aggregates.hourly: retain was not there and is 4000d; events of reading that are stored keep the expiry they have and " +
				"never expire" + gone + "no retain until they are gone or have been given an expiry"},
		{"introduced, and totals for ever", text("", "", "1"), text(", retain: 30d", "", "1"), ""},
		{"lengthened", text(", retain: 30d", ", retain: 60d", "1"), text(", retain: 40d", ", retain: 60d", "1"), ""},
		{"for ever from now on", text(", retain: 30d", ", retain: 60d", "1"), text("", "", "2"), ""},
		{"a new type", strings.Replace(strings.Replace(text(", retain: 90d", "", "1"), "reading: {id", "raeding: {id", 1), "reading: {v",
			"raeding: {v", 1), text(", retain: 30d", ", retain: 60d", "2"), ""},
	} {
		var got []string
		for _, r := range Between(mustLoad(t, c.was), mustLoad(t, c.is), deployed) {
			if r.Kind == Lifetime {
				got = append(got, r.String())
			}
		}
		must.Equal(t, strings.Join(got, "\n"), c.want, c.name)
	}
	// The totals are the same under an older definition of the aggregate. What stays the same is
	// not reported as changed.
	same := Change{Kind: Lifetime, Subject: "aggregates.a", Member: "retain", Old: "60d", New: "60d", Do: "do"}
	must.Equal(t, same.String(), "aggregates.a: retain is 60d; do")
}

// What was given up or quarantined is somebody's event. No advice discards it.
func TestNoAdvicePurges(t *testing.T) {
	for _, advice := range []string{noRevision, retainLonger, retainShorter, tiesMore, tiesLess, drainFirst, staysThere, laterAt,
		ignoreMore, ignoreLess, raiseEpoch} {
		if strings.Contains(advice, "purge") {
			t.Error(advice)
		}
	}
}

// revised returns a file of one type under mode latest with this revision.
func revised(revision string) string {
	return "ingot: 1\nepoch: 1\ntype: a\nevents:\n  a:\n    id: \"{n}\"\n    at: \"{t}\"\n    key: {pk: \"{n}\", sk: \"-\"}\n    mode: latest\n    ignore: [trace]\n    revision: " + revision + "\n"
}

func TestChangesOfRevisionLists(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"a number", "[ a  number ]", ""},
		{"a number", "[a number, b time]",
			"events.a: revision was a number and is [a number, b time]; nothing needs to be drained and no epoch raised"},
		{"[a number, b time]", "[a number, b time, c time]",
			"events.a: revision was [a number, b time] and is [a number, b time, c time]; nothing needs to be drained"},
		{"[a number, b time]", "a number", "events.a: revision was [a number, b time] and is a number; drain the queue and redrive its " +
			"dead-letter queue before deploying: events whose revisions differ only"},
		{"[a number, b time]", "[a number, c time]", "events.a: revision was [a number, b time] and is [a number, c time]; drain the " +
			"queue and redrive its dead-letter queue before deploying: events whose"},
		{"[a number, b time]", "[b time, a number]", "events.a: revision was [a number, b time] and is [b time, a number]; " + drainFirst},
	} {
		reported(t, revised(c.old), revised(c.new), c.want)
	}
}

// typed returns a file with these event types and this type.
func typed(typ string, names ...string) string {
	text := "ingot: 1\nepoch: 1\ntype: " + typ + "\nevents:\n"
	for _, name := range names {
		text += "  " + name + ": {id: \"{n}\", at: \"{t}\", key: {pk: \"" + name + "#{n}\", sk: \"-\"}}\n"
	}
	return text
}

func TestChangesOfTypeLists(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{`"{a}"`, `["{ a }"]`, ""},
		{`"{a}"`, `["{a}", "{b}"]`, ""}, // what was Poison gets a type
		{`["{a}", "{b}"]`, `"{a}"`, "type was [{a}, {b}] and is {a}; drain"},
		{`["{a}", "{b}"]`, `["{b}", "{a}"]`, "type was [{a}, {b}] and is [{b}, {a}]; drain"},
	} {
		reported(t, typed(c.old, "x"), typed(c.new, "x"), c.want)
	}
}

func TestPartsAreIdentity(t *testing.T) {
	const file = `ingot: 1
epoch: 1
type: "{type}"
events:
  order: {id: "{order}", at: "{at}", key: {pk: "ORDER#{order}", sk: "ORDER"}}
`
	const line = `  line: {part: {of: order, each: lines, with: [order]}, id: "{order}#{line}", key: {pk: "ORDER#{order}", sk: "LINE#{line}"}}
`
	for name, c := range map[string]struct {
		old, new string
		kind     Kind
		want     string
	}{
		"a new part": {file, file + line, Rebuild,
			"events.line: part was not there and is {of: order, each: lines, with: [order]}; after deploying both functions, put the parts"},
		"another array": {file + line, file + strings.Replace(line, "each: lines", "each: rows", 1), Identity,
			"events.line: part was {of: order, each: lines, with: [order]} and is {of: order, each: rows, with: [order]}; " + drainParts +
				staysThere},
		"more members": {file + line, file + strings.Replace(line, "[order]", "[order, currency]", 1), Identity,
			"with: [order, currency]}; drain the queue"},
		"another key": {file + line, file + strings.Replace(line, "LINE#", "L#", 1), Identity,
			"events.line: key.sk was LINE#{line} and is L#{line}; " + drainFirst + staysThere},
		"another id": {file + line, file + strings.Replace(line, `id: "{order}#{line}"`, `id: "{line}"`, 1), Identity,
			"events.line: id was {order}#{line} and is {line}; " + drainFirst + staysThere},
		"atomic": {file + line, strings.Replace(file, "{id", "{atomic: true, id", 1) + line, Identity,
			"events.order: atomic was not there and is true; drain the queue"},
		"not atomic": {strings.Replace(file, "{id", "{atomic: true, id", 1) + line, file + line, Identity,
			"events.order: atomic was true and is not there; drain the queue"},
		"taken out": {file + line, file, Identity, "events.line was declared and is not there; drain the queues"},
		"a whole and its part": {strings.Replace(file, "order:", "other:", 1), strings.Replace(file, "order:", "other:", 1) +
			strings.Replace(file, "ORDER#", "O#", -1)[strings.Index(file, "  order:"):] + line,
			"", ""},
	} {
		reports := Between(mustLoad(t, c.old), mustLoad(t, c.new), deployed)
		switch {
		case c.want == "" && len(reports) == 0:
		case len(reports) != 1 || c.want == "" || reports[0].Kind != c.kind || !strings.Contains(reports[0].String(), c.want):
			t.Errorf("%s: %v\nwant %s", name, reports, c.want)
		}
	}
}

// Where arrays of events are no longer taken, those that are under way must be stored first.
func TestNoMoreArrays(t *testing.T) {
	file := must.Read(t, "../../../pipeline/testdata/base.yaml")
	plain := mustLoad(t, string(file))
	arrays := mustLoad(t, strings.Replace(string(file), "epoch: 2", "epoch: 2\nbatches: true", 1))
	list := Between(arrays, plain, must.Time("2026-03-01T00:00:00Z"))
	if len(list) != 1 || list[0].Kind != Identity ||
		!strings.HasPrefix(list[0].String(),
			"batches was {each: .} and is not there; drain the queue, redrive its dead-letter queue and send again what is in quarantine") {
		t.Errorf("%v", list)
	}
}

// What the lists of a rank share is part of the definition. Its order in the file is not.
func TestChangesOfWithin(t *testing.T) {
	file := func(within string) string {
		return "ingot: 1\nepoch: 1\ntype: win\nevents:\n  win: {id: \"{id}\", at: \"{at}\", key: {pk: \"{id}\", sk: \"-\"}}\n" +
			"aggregates:\n  wins:\n    since: 1\n    by: {a: \"{a}\", b: \"{b}\", c: \"{c}\"}\n    rank: {value: n_wins" + within + "}\n" +
			"    from: {win: {values: {n_wins: count}}}\n"
	}
	for _, c := range []struct{ old, new, want string }{
		{"", ", within: []", ""},
		{", within: [a, b]", ", within: [b, a]", ""},
		{"", ", within: [a]", "aggregates.wins: rank.within was not there and is a; raise epoch"},
		{", within: [a]", ", within: [b, a]", "aggregates.wins: rank.within was a and is a, b; raise epoch"},
		{", within: [a]", "", "aggregates.wins: rank.within was a and is not there; raise epoch"},
	} {
		reported(t, file(c.old), file(c.new), c.want)
	}
}
