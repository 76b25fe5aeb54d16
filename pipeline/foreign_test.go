package pipeline

import (
	"errors"
	"strings"
	"testing"
)

// followedAdvice is one change of base that is refused or warned of, the message about it, and the
// same file after the advice was followed.
type followedAdvice struct {
	name, old, new string
	want           string   // the message
	followed       []string // what replaces new when the advice is followed; each is one way
}

// foreignMistakes are mistakes of people who know another language.
var foreignMistakes = []followedAdvice{
	{"JSONPath in a sum", "sum total", "sum $.total",
		`p.yaml:26:71: $.total is a JSONPath, and $ would be a field of that name: paths begin at the payload; write total`,
		[]string{"sum total"}},
	{"JSONPath of an element", "sum total", `"sum -$[0].total"`, `write [0].total`,
		[]string{`"sum -[0].total"`, `'sum ["$"][0].total'`}},
	{"JSONPath of many", "max total", `"max $.items[*].total"`,
		`write count, sum PATH, sum -PATH, sum NUMBER, min PATH, max PATH, newest PATH, oldest PATH, histogram PATH or distinct PATH`,
		[]string{"max total"}},
	{"JSONPath in where", "where: total > 0", "where: $.total > 0",
		`p.yaml:26:23: $.total is a JSONPath, and $ would be a field of that name: paths begin at the payload; write total`,
		[]string{"where: total > 0"}},
	{"JSONPath of an attribute", "{status: status}", "{status: $.status}", `p.yaml:11:26: $.status is a JSONPath`,
		[]string{"{status: status}"}},
	{"JSONPath in ignore", "[trace]", `[$.trace]`, `p.yaml:13:14: $.trace is a JSONPath`, []string{"[trace]"}},
	{"JSONPath of a revision", "revision: moved_at time", "revision: $.moved_at time",
		`p.yaml:19:15: $.moved_at is a JSONPath, and $ would be a field of that name: paths begin at the payload; write moved_at`,
		[]string{"revision: moved_at time"}},
	{"JSONPath in a template", `{pk: "DAY#{@at | day}"`, `{pk: "DAY#{$.day | lower}"`,
		`p.yaml:10:23: $.day is a JSONPath, and $ would be a field of that name: paths begin at the payload; write day`,
		[]string{`{pk: "DAY#{day | lower}"`}},
	{"a template in a sum", "sum total", `"sum -{total}"`,
		`p.yaml:26:73: {total} has braces, which only templates have; write total`, []string{"sum -total"}},
	{"a template of an attribute", "{status: status}", `{status: "{status}"}`,
		`p.yaml:11:26: {status} has braces, which only templates have; write status`, []string{"{status: status}"}},
	{"the whole payload", "{status: status}", "{status: $}",
		`$ is a JSONPath, and $ would be a field of that name: paths begin at the payload; write a path such as customer.city or items[0].sku`, []string{"{status: customer.city}", `{status: "items[0].sku"}`}},

	{"an environment's variable", `pk: "PARCEL#{parcel}"`, `pk: "${STAGE}#{parcel}"`,
		`p.yaml:17:16: ${STAGE} is not a variable: it is a $ and then a field of the payload; write {STAGE} for that field, or the text itself`, []string{`pk: "prod#{parcel}"`}},
	{"a template literal of JavaScript", `by: {shop: "{shop}"}`, `by: {shop: "${shop}"}`, `p.yaml:23:17: ${shop} is not a variable`,
		[]string{`by: {shop: "{shop}"}`}},
	{"a variable in a condition", "where: total > 0", "where: \"status = '${STAGE}'\"",
		`p.yaml:26:33: "${STAGE}" is not a variable; write the text itself`, []string{"where: status = 'prod'"}},
	{"a variable in a name", "  moved:\n", "  ${STAGE}.moved:\n",
		`p.yaml:14:3: the name of an event type cannot contain ${, since nothing is filled in there; write letters, digits, . and - alone`,
		nil},

	{"text beside a sum", "where: total > 0", `where: total > '0'`,
		`p.yaml:26:23: where compares total with "0", and sum total needs a number there: no event that meets this could be counted; write total > 0`, []string{"where: total > 0"}},
	{"text in a set", "where: total > 0", `where: "kind = 'a' or total in ('1', 2)"`, `write total in (1, 2)`,
		[]string{`where: "kind = 'a' or total in (1, 2)"`}},
	{"a word beside a sum", "where: total > 0", `where: (total != '' and kind = 'a')`,
		`write a comparison with a number, or exists total`,
		[]string{"where: (exists total and kind = 'a')", "where: (total > 0 and kind = 'a')"}},
	{"a set of words", "where: total > 0", `where: "total in ('a', 'b')"`, `where compares total with "a"`,
		[]string{`where: "total in (1, 2)"`}},
	{"true beside a sum", "where: total > 0", `where: total = true`, `where compares total with true, and sum total needs a number there`,
		[]string{"where: exists total"}},

	{"the queue's id", `id: "{shop}#{order}"`, `id: "{@attribute.MessageId}"`,
		`p.yaml:6:11: id uses MessageId, which SQS sets again each time a message is sent: an event that is sent twice would be two events; write the fields that tell events apart, such as "{order_id}", or "{@digest}"`, []string{`id: "{order}"`}},
	{"the queue's time", `at: "{placed_at}"`, `at: "{@attribute.SentTimestamp | unixms}"`,
		`p.yaml:7:11: at uses SentTimestamp, which SQS sets again each time a message is sent: an event that is sent twice would be two events; write a time that the event itself tells, such as "{placed_at}"`, []string{`at: "{placed_at}"`}},
	{"the queue's time without braces", `at: "{placed_at}"`, `at: "@attribute.SentTimestamp"`,
		`p.yaml:7:10: at uses SentTimestamp, which SQS sets again each time a message is sent: an event that is sent twice would be two events; write a time that the event itself tells, such as "{placed_at}"`, []string{`at: "{placed_at}"`}},
	{"another variable as the time", `at: "{placed_at}"`, `at: "@id"`,
		`p.yaml:7:10: at cannot use @id; write a time that the event itself tells, such as "{placed_at}"`,
		[]string{`at: "{placed_at}"`}},
	{"JSONPath of the time", `at: "{placed_at}"`, `at: $.placed_at`,
		`p.yaml:7:9: $.placed_at is a JSONPath, and $ would be a field of that name: paths begin at the payload; write "{placed_at}"`, []string{`at: "{placed_at}"`}},
	{"the queue's id in a key", `sk: "ORDER#{order}"`, `sk: "ORDER#{order}#{@attribute.MessageId}"`, `p.yaml:8:50: sk uses MessageId`,
		[]string{`sk: "ORDER#{order}#{@digest}"`}},

	{"a type that cannot be", `type: "{type}"`, `type: "{event}#{action}"`,
		`p.yaml:3:7: type can never be one of the declared event types, whatever an event says; write a field that holds moved or placed, such as "{type}"`, []string{`type: "{type}"`, `type: "{event}"`}},
	{"a type in capitals", `type: "{type}"`, `type: "{type | upper}"`, `type can never be one of the declared event types`,
		[]string{`type: "{type}"`}},
	{"a type that is a hash", `type: "{type}"`, `type: "{type | sha256}"`, `type can never be one of the declared event types`,
		[]string{`type: "{type}"`}},
	{"a type that is a day", `type: "{type}"`, `type: "{type | day}"`, `type can never be one of the declared event types`,
		[]string{`type: "{type}"`}},
	{"a type that is too short", `type: "{type}"`, `type: "{type | first:3}"`, `type can never be one of the declared event types`,
		[]string{`type: "{type | first:6}"`}},
	{"a type with too much", `type: "{type}"`, `type: "event {type}"`, `type can never be one of the declared event types`,
		[]string{`type: "{type}"`}},

	{"an average", "revenue: sum total", "revenue: avg total",
		`p.yaml:26:67: an average is not kept, because two averages cannot be added up; write sum total, with a count of the same events in a value of its own, and divide when you read`, []string{"revenue: sum total, n_revenue: count"}},
	{"an average of nothing", "revenue: sum total", "revenue: mean",
		`write sum PATH, with a count of the same events in a value of its own, and divide when you read`,
		[]string{"revenue: sum total, n_revenue: count"}},
	{"an average as a mapping", "revenue: sum total", "revenue: {avg: total}",
		`an average is not kept, because two averages cannot be added up; write sum: total, with a count of the same events in a value of its own, and divide when you read`, []string{"revenue: {sum: total}, n_revenue: count"}},
	{"a length alone", "revenue: sum total", "revenue: length items",
		`p.yaml:26:67: length stands in place of a path, after an operation; write sum length items`,
		[]string{"revenue: sum length items"}},
	{"many types at once", "      placed: {where", "      plac*: {where",
		`p.yaml:26:7: there is no event type plac*, and * is not a wildcard; write each event type by its whole name, such as moved`, []string{"      placed: {where"}},
}

// Each refusal says what to write, and that is accepted.
func TestForeignMistakesAndTheirAdvice(t *testing.T) {
	for _, c := range foreignMistakes {
		t.Run(c.name, func(t *testing.T) {
			_, err := loadText(change(t, c.old, c.new))
			var ms Mistakes
			if !errors.As(err, &ms) || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("\n got %v\nwant %s", err, c.want)
			}
			saysWhatToWrite(t, c.name, ms)
			for _, m := range ms[1:] { // each of two values may need a number
				if len(c.followed) > 0 && (m.Line != ms[0].Line || m.Column != ms[0].Column) {
					t.Errorf("one mistake is refused in two places: %v", ms)
				}
			}
			for _, followed := range c.followed {
				if _, err := loadText(change(t, c.old, followed)); err != nil {
					t.Errorf("%s: the advice was followed, and it is refused: %v", followed, err)
				}
			}
		})
	}
}

func change(t *testing.T, old, new string) string {
	t.Helper()
	if !strings.Contains(base, old) {
		t.Fatalf("base has no %q", old)
	}
	return strings.Replace(base, old, new, 1)
}

// These look foreign, but are meant: fields with a $ in their names, texts under not, and
// producers' own attributes.
func TestNotForeign(t *testing.T) {
	for _, c := range [][2]string{
		{"{status: status}", "{status: $ref}"},
		{"{status: status}", `{status: '["$"].status'}`},
		{"where: total > 0", "where: not total = ''"},
		{"where: total > 0", `where: "not (total in ('', 'none'))"`},
		{"where: total > 0", "where: other = '0'"},
		{`id: "{shop}#{order}"`, `id: "{shop}#{order}#{@attribute.MessageDeduplicationId}"`},
		{`type: "{type}"`, `type: "p{kind}"`},
		{`type: "{type}"`, `type: "{type | upper | lower}"`},
		{`type: "{type}"`, `type: "{type | trim | first:6}"`},
		{`pk: "PARCEL#{parcel}"`, `pk: "US$#{parcel}"`},
	} {
		text := change(t, c[0], c[1])
		if strings.Contains(c[1], "Deduplication") {
			text = strings.Replace(text, `sk: "ORDER#{order}"`, `sk: "{@id}"`, 1)
		}
		if _, err := loadText(text); err != nil {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

var doubtful = []followedAdvice{
	{"one partition", `{pk: "PARCEL#{parcel}", sk: "-"}`, `{pk: "PARCELS", sk: "{parcel}"}`,
		`p.yaml:17:15: pk is the same for every item of the type, and one partition key takes at most 1,000 writes a second; write pk with a field in it, such as "ORDER#{order_id}" or "DAY#{@at | day}#{@id | shard:8}"`, []string{`{pk: "PARCEL#{parcel}", sk: "-"}`}},
	{"one partition of an index", `pk: "DAY#{@at | day}"`, `pk: "{@type}"`, `p.yaml:10:18: pk is the same for every item of the type`,
		[]string{`pk: "ORDER#{order_id}"`, `pk: "DAY#{@at | day}#{@id | shard:8}"`}},
	{"a total of one event", `by: {shop: "{shop}"}`, `by: {order: "{order}", shop: "{shop}"}`,
		`p.yaml:23:9: by has every field that id has, so each total would count one event; write fewer fields in by, such as a customer or a product`, []string{`by: {customer: "{customer}"}`, `by: {shop: "{shop}"}`}},
	{"a total of one event, by its id", `by: {shop: "{shop}"}`, `by: {order: "{@id}"}`, `by has every field that id has`,
		[]string{`by: {product: "{product}"}`}},
	{"many windows",
		"    window: 1d\n    from:\n      placed: {where: total > 0, values: {orders: count, revenue: sum total, largest: max total}}\n    onExpire: keep\n    spread: 4\n    retain: 400d\n",
		"    window: 1m\n    from:\n      placed: {values: {orders: count}}\n",
		`p.yaml:24:13: a window of 1m without retain: each group gets 1440 totals a day, and they are kept for ever; write retain: 97d beside it, or window: 1h or longer`,
		[]string{"    window: 1m\n    retain: 97d\n    from:\n      placed: {values: {orders: count}}\n",
			"    window: 1h\n    from:\n      placed: {values: {orders: count}}\n"}},
	{"many windows of events that stay", "    since: 1\n    from:\n", "    since: 1\n    window: 90s\n    from:\n",
		`p.yaml:32:13: a window of 90s without retain: each group gets 960 totals a day, and they are kept for ever; write window: 1h or longer, or retain for moved and here`,
		[]string{"    since: 1\n    window: 1h\n    from:\n"}},
	{"a star in a name", "  moved:\n", "  \"mov*\":\n",
		`p.yaml:14:3: mov* is one event type with exactly this name: * is not a wildcard; write each event type by its whole name`,
		[]string{"  moved:\n"}},
	{"a month", "window: 1d", "window: 30d",
		`p.yaml:24:13: a window of 30d is not a month or a year of the calendar: windows are equally long and begin at 1970-01-01; write window: 1mo`, []string{"window: 1mo"}},
	{"a year in hours", "window: 1d", "window: 8760h", `a window of 365d is not a month`, []string{"window: 1y"}},
}

// What is doubtful is a warning. The warning says what to write, and goes away when that is
// written.
func TestDoubtsAndTheirAdvice(t *testing.T) {
	for _, c := range doubtful {
		t.Run(c.name, func(t *testing.T) {
			text := change(t, c.old, c.new)
			if c.name == "a star in a name" {
				text = strings.Replace(text, "      moved: {values", "      \"mov*\": {values", 1)
			}
			w := mustLoad(t, text).Describe().Warnings
			if len(w) != 1 || !strings.Contains(w[0].String(), c.want) {
				t.Fatalf("\n got %v\nwant %s", w, c.want)
			}
			saysWhatToWrite(t, c.name, w)
			for _, followed := range c.followed {
				if w := mustLoad(t, change(t, c.old, followed)).Describe().Warnings; len(w) > 0 {
					t.Errorf("%s: the advice was followed, and it is doubted: %v", followed, w)
				}
			}
		})
	}
}

// These are not doubtful: a total in which two event types meet, four weeks, and a short window
// that expires.
func TestNotDoubtful(t *testing.T) {
	for _, c := range [][2]string{
		{"      moved: {values: {parcels: count, weight: sum weight}}",
			"      moved: {values: {parcels: count}}\n      placed: {values: {parcels: count}}\n    by: {parcel: \"{parcel}\"}"},
		{"window: 1d", "window: 28d"},
		{"window: 1d", "window: 1m"},
	} {
		if w := mustLoad(t, change(t, c[0], c[1])).Describe().Warnings; len(w) > 0 {
			t.Errorf("%s: %v", c[1], w)
		}
	}
}

// A warning that holds for every event type appears once, at the first of them.
func TestOneWarningForAllTypes(t *testing.T) {
	const head = "ingot: 1\nepoch: 1\ntype: \"{type}\"\nevents:\n"
	event := func(name, pk, sk string) string {
		return "  " + name + ": {id: \"{order}\", at: \"{at}\", key: {pk: \"" + pk + "\", sk: \"" + sk + "\"}}\n"
	}
	for _, c := range []struct {
		name string
		text string
		want []string
	}{
		{"all", head + event("c", "ALL", "C#{order}") + event("a", "ALL", "A#{order}") + event("b", "ALL", "B#{order}"),
			[]string{`p.yaml:5:44: of every event type: pk is the same for every item of the type, and`}},
		{"all without a time", head + strings.ReplaceAll(event("c", "C#{order}", "-")+event("a", "A#{order}", "-"), "at: \"{at}\", ", ""),
			[]string{`p.yaml:5:6: of every event type: at is missing, and a message that is bare JSON has no other time`}},
		{"all with an idle was", head + strings.ReplaceAll(event("c", "C#{order}", "-")+event("a", "A#{order}", "-"), "id:",
			"retain: 1d, was: [{retain: 2d, before: 2026-03-01T00:00:00Z}], id:"),
			[]string{`p.yaml:5:25: of every event type: was[0] changes nothing: today's retain is as short; write the other entries alone`}},
		{"all but one", head + event("c", "ALL", "C#{order}") + event("a", "ALL", "A#{order}") + event("b", "B#{order}", "B"),
			[]string{`p.yaml:5:44: pk is the same`, `p.yaml:6:44: pk is the same`}},
		{"a file of one type", head + event("a", "ALL", "A#{order}"), []string{`p.yaml:5:44: pk is the same`}},
		{"one key for all", head + event("a", "X#{order}", "{order}") + event("b", "X#{order}", "{order}") +
			event("c", "X#{order}", "{order}"),
			[]string{`p.yaml:6:39: events of all types can have the same key, and the later one would be a conflict`}},
		{"one key for some", head + event("a", "X#{order}", "{order}") + event("b", "Y#{order}", "{order}") +
			event("c", "X#{order}", "{order}") + event("d", "X#{order}", "{order}"),
			[]string{`p.yaml:7:39: events of a, c and d can have the same key, and the later`}},
		{"keys that end with the type", head + event("a", "X#{order}", "{@type}") + event("b", "X#{order}", "{@type}") +
			event("c", "X#{order}", "{@type}#{order}"), nil},
		{"one key in a chain", head + event("a", "X#{order}", "-") + event("b", "{order}#{order}", "-") + event("c", "Y#{order}", "-"),
			[]string{`p.yaml:6:39: events of a and b can have the same key`, `p.yaml:7:39: events of b and c can have the same key`}},
	} {
		w := mustLoad(t, c.text).Describe().Warnings
		if len(w) > 0 && len(c.want) == 0 {
			t.Errorf("%s: %v", c.name, w)
		}
		for i, want := range c.want {
			if i >= len(w) || len(w) != len(c.want) || !strings.HasPrefix(w[i].String(), want) {
				t.Errorf("%s:\n got %v\nwant %s", c.name, w, c.want)
				break
			}
		}
	}
}

// A floor that may refuse a part is doubted if its whole is not atomic: the whole would be stored
// without it.
func TestFloorOfAPart(t *testing.T) {
	text := func(atomic, value string) string {
		return `ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{order}"` + atomic + `
    at: "{at}"
    key: {pk: "ORDER#{order}", sk: "ORDER"}
  line:
    part: {of: order, each: lines, with: [order]}
    id: "{order}#{n}"
    key: {pk: "ORDER#{order}", sk: "LINE#{n}"}
aggregates:
  stock:
    since: 1
    by: {sku: "{sku}"}
    movedBy: put
    atLeast: {available: 0}
    from:
      line: {values: {available: ` + value + `, lines: count, sizes: sum size?}}
`
	}
	const want = "p.yaml:20:7: line is a part of order, which is stored first: if a floor refuses the part, the message goes to " +
		"quarantine, and the rest of it stays stored; write atomic: true in order"
	for value, doubted := range map[string]bool{"sum -quantity": true, "sum quantity": true, "sum -length pieces": true,
		"sum length pieces": false, "count": false, "sum 1": false} {
		if w := mustLoad(t, text("", value)).Describe().Warnings; doubted && (len(w) != 1 || w[0].String() != want) || !doubted &&
			len(w) > 0 {
			t.Errorf("%s: %v", value, w)
		}
		capped := mustLoad(t, strings.Replace(text("", value), "atLeast: {available: 0}", "atMost: {available: 9}", 1))
		if raises := !strings.Contains(value, "-l"); len(capped.Describe().Warnings) > 0 != raises {
			t.Errorf("%s: %v", value, capped.Describe().Warnings)
		}
		if w := mustLoad(t, text("\n    atomic: true", value)).Describe().Warnings; len(w) > 0 {
			t.Errorf("%s, atomic: %v", value, w)
		}
	}
}
