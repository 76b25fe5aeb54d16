package pipeline

import (
	_ "embed"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
)

// loadText compiles the text of a file, with a secret. It notes a text with mistakes or warnings,
// for [TestMain].
func loadText(text string) (*Pipeline, error) {
	p, err := loadQuietly(text)
	if len(text) < 1<<14 && (err != nil || len(p.Describe().Warnings) > 0) {
		advised.mu.Lock()
		advised.texts = append(advised.texts, text)
		advised.mu.Unlock()
	}
	return p, err
}

func loadQuietly(text string) (*Pipeline, error) {
	return Load(fstest.MapFS{"p.yaml": &fstest.MapFile{Data: []byte(text)}}, "p.yaml", Secret([]byte("secret")))
}

func mustLoad(t testing.TB, text string) *Pipeline {
	t.Helper()
	p, err := loadText(text)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return p
}

// refused reports a text that is not refused with these words. Without words, it has to load.
func refused(t *testing.T, text, want string) {
	t.Helper()
	_, err := loadText(text)
	if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestTheDesignsExampleLoads(t *testing.T) {
	p, err := Load(os.DirFS("testdata"), "orders.yaml", Secret([]byte("secret")))
	must.Succeed(t, err)
	d := p.Describe()
	if got := slices.Sorted(maps.Keys(d.Spec.Events)); !slices.Equal(got, []string{"order.placed", "order.refunded"}) {
		t.Errorf("types %s", got)
	}
	must.Equal(t, strings.Join(p.Indexes(), " "), "GSI1 GSI2")
	if p.Epoch() != 1 || !p.UsesHMAC() || d.Spec.Events["order.placed"].Retain != 90*lifetime.Day {
		t.Errorf("epoch %d, hmac %v, %+v", p.Epoch(), p.UsesHMAC(), d.Spec)
	}
	def, ok := p.Definition("merchant_daily")
	if !ok || def.Since != 1 || def.Window != lifetime.Day || def.Retain != 400*lifetime.Day || def.Spread != 1 || len(def.Values) != 3 {
		t.Errorf("definition %+v", def)
	}
	golden.File(t, "testdata/orders.definition.json", def.Text+"\n")
	if _, ok := p.Definition("merchant"); ok {
		t.Error("found an aggregate that is not declared")
	}
	if got := slices.Sorted(maps.Keys(d.Spec.Aggregates["merchant_daily"].From)); !slices.Equal(got,
		[]string{"order.placed", "order.refunded"}) {
		t.Errorf("fed by %s", got)
	}
	golden.File(t, "testdata/orders.warnings.txt", Mistakes(p.Describe().Warnings).Error()+"\n")
}

func TestTwentyMistakesAtOnce(t *testing.T) {
	_, err := Load(os.DirFS("testdata"), "mistakes.yaml")
	var ms Mistakes
	if !errors.As(err, &ms) {
		t.Fatalf("%T: %v", err, err)
	}
	if len(ms) < 20 {
		t.Errorf("%d mistakes found", len(ms))
	}
	saysWhatToWrite(t, "mistakes.yaml", ms)
	golden.File(t, "testdata/mistakes.txt", ms.Error()+"\n")
}

func TestAFileThatIsNotThere(t *testing.T) {
	_, err := Load(fstest.MapFS{}, "none.yaml")
	var missing *fs.PathError
	if !errors.As(err, &missing) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%T: %v", err, err)
	}
}

func TestHMACNeedsItsSecret(t *testing.T) {
	files := os.DirFS("testdata")
	if _, err := Load(files, "orders.yaml"); !errors.Is(err, ErrNoSecret) || !strings.Contains(err.Error(), "INGOT_PII_KEY") {
		t.Errorf("without a secret: %v", err)
	}
	if _, err := Load(files, "orders.yaml", Secret(nil)); !errors.Is(err, ErrNoSecret) {
		t.Errorf("with an empty secret: %v", err)
	}
	if _, err := Load(files, "orders.yaml", CheckOnly()); err != nil {
		t.Errorf("to check only: %v", err)
	}
}

// base is a correct file; each case of the tables below changes one thing in it.
//
//go:embed testdata/base.yaml
var base string

func TestBaseIsCorrect(t *testing.T) {
	if w := mustLoad(t, base).Describe().Warnings; len(w) != 0 {
		t.Errorf("warnings: %v", w)
	}
}

func TestAFileOfNothing(t *testing.T) {
	for _, text := range []string{"", "# nothing\n", "---\n"} {
		refused(t, text, "write ingot: 1, epoch: 1 and events:")
	}
	if _, err := loadText("[]"); err == nil ||
		err.Error() != "p.yaml:1:1: the file is a list, not a mapping; write ingot: 1, epoch: 1 and events:" {
		t.Errorf("%v", err)
	}
}

// These are the mistakes of a first file. How YAML reads them tells a user little, so the message
// says what to write.
func TestFirstMistakes(t *testing.T) {
	const head = "ingot: 1\nepoch: 1\nevents:\n  a:\n"
	for text, want := range map[string]string{
		head + "    id: {order_id}\n    key: {pk: 'A#{@id}', sk: '-'}\n": `p.yaml:5:9: id is a mapping, not text; write it in quotes, as in "{order_id}"`,
		head + "    key: {pk: A#{@id}, sk: '-'}\n":                       `p.yaml:5:18: invalid YAML: '@' is a reserved character; write what holds a brace, a bracket, a comma, # or @ in quotes, as in "{order_id}"`,
		head + "    key: {pk: A#{order_id}, sk: '-'}\n":                  `p.yaml:5:17: invalid YAML: ',' or '}' must be specified; write what holds a brace, a bracket, a comma, # or @ in quotes, as in "{order_id}"`,
		head + "\tkey: {pk: 'A#{@id}', sk: '-'}\n":                       `p.yaml:5:1: invalid YAML: found character '	' that cannot start any token; write spaces`,
		head + "    key: {pk: 'A#{@id}', sk: ''}\n":                      `p.yaml:5:30: sk is empty; write a template, or a constant such as "ORDER"`,
		strings.Replace(head, "epoch: 1", "epoch: 99999999999999999999",
			1): `p.yaml:2:8: epoch is too large; write a whole number from 1 to 1000000000`,
		strings.Replace(head, "epoch: 1", "epoch: '1'", 1): `p.yaml:2:8: epoch is text, not a whole number; write 1 without quotes`,
		"hello":                             `p.yaml:1:1: the file is text, not a mapping; write ingot: 1, epoch: 1 and events:`,
		"\xff\xfei\x00n\x00g\x00o\x00t\x00": `p.yaml:1:1: invalid YAML: the file is UTF-16; save it as UTF-8`,
		"ingot: 1 # caf\xe9\n":              `p.yaml:1:1: invalid YAML: the file is not UTF-8; save it as UTF-8`,
	} {
		if _, err := loadText(text); err == nil || !strings.HasPrefix(err.Error()+"\n", want+"\n") {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestKeyOfAShortenedID(t *testing.T) {
	refused(t, "ingot: 1\nepoch: 1\nevents: {a: {key: {pk: '{@id | shard:8}', sk: '-'}}}\n",
		"key shows @id only through a function that loses a part of it")
}

func TestEventsKeptForEver(t *testing.T) {
	if p := mustLoad(t, base); p.Describe().Spec.Events["moved"].Retain != 0 || len(p.Definitions()) != 2 ||
		p.Definitions()[0].Name != "daily" {
		t.Errorf("%+v, %v", p.Describe().Spec.Events, p.Definitions())
	}
}

func TestLineEndsAndByteOrderMark(t *testing.T) {
	mustLoad(t, strings.ReplaceAll(base, "\n", "\r\n"))
	_, err := loadText(strings.ReplaceAll(strings.Replace(base, "{parcel}", "{parcel", 1), "\n", "\r\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:15:10: ") {
		t.Errorf("%v", err)
	}
	mustLoad(t, "\ufeff"+base)
	_, err = loadText(strings.ReplaceAll("# a comment\n"+strings.Replace(base, "{parcel}", "{parcel", 1), "\n", "\r\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:16:10: ") {
		t.Errorf("below a comment: %v", err)
	}
}

func TestEveryCheck(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"unknown version", "ingot: 1", "ingot: 7",
			`p.yaml:1:8: ingot: 7 is not a file format that this build reads: it reads 1; write ingot: 1`},
		{"no version", "ingot: 1\n", "", `p.yaml:1:1: ingot is missing in the file`},
		{"no epoch", "epoch: 2\n", "", `p.yaml:1:1: epoch is missing in the file`},
		{"epoch 0", "epoch: 2", "epoch: 0", `p.yaml:2:8: epoch is 0; write a whole number from 1 to 1000000000`},
		{"epoch text", "epoch: 2", `epoch: "2"`, `p.yaml:2:8: epoch is text, not a whole number`},
		{"epoch fraction", "epoch: 2", `epoch: 2.5`, `p.yaml:2:8: epoch is a number, not a whole number`},
		{"epoch hexadecimal", "epoch: 2", `epoch: 0x2`, `p.yaml:2:8: epoch is 0x2, which is not a plain whole number`},
		{"batches text", "epoch: 2", "epoch: 2\nbatches: yes", `p.yaml:3:10: batches is text, not true or a list; write true, or [{each: Records}]`},
		{"unknown name", "epoch: 2", "epoch: 2\nevent: {}", `p.yaml:3:1: unknown name event; write events`},
		{"unknown name far from all", "    retain: 90d", "    zzzzzzz: 90d",
			`unknown name zzzzzzz; write one of at, atomic, attributes, compress, expires, id, ignore, indexes, key, migrated, mode, offload, …`},
		{"repeated name", "epoch: 2", "epoch: 2\nepoch: 3", `p.yaml:3:1: epoch is already declared on line 2`},
		{"repeated event", "  moved:", "  placed:", `p.yaml:14:3: placed is already declared on line 5`},
		{"not yaml", "epoch: 2", "epoch: [2",
			`p.yaml:2:8: invalid YAML: the bracket that opens here is not closed; write ] where it ends`},
		{"anchor", "epoch: 2", "epoch: &e 2", `p.yaml:2:8: anchors, aliases and tags are not supported; write the value itself`},
		{"empty value", `type: "{type}"`, "type:", `type has no value`},
		{"list for text", `    id: "{parcel}"`, `    id: ["{parcel}"]`, `p.yaml:15:9: id is a list, not text`},
		{"number for text", `sk: "-"`, `sk: 5`, `p.yaml:17:38: sk is a number, not text; write "5"`},
		{"text for a mapping", `key: {pk: "PARCEL#{parcel}", sk: "-"}`, `key: "{parcel}"`,
			`p.yaml:17:10: key is text, not a mapping; write {pk: "…", sk: "…"}`},
		{"text for a list", `ignore: [trace]`, `ignore: trace`, `p.yaml:13:13: ignore is text, not a list; write [trace]`},
		{"second document", "    onExpire: subtract\n", "    onExpire: subtract\n---\ningot: 1\n", `a second YAML document begins here`},
		{"bad template", `id: "{parcel}"`, `id: "{parcel"`, `p.yaml:15:`},
		{"unknown function", `"DAY#{@at | day}"`, `"DAY#{@at | dya}"`, `p.yaml:10:`},
		{"unseparated", `pk: "PARCEL#{parcel}"`, `pk: "{parcel}{kind}"`, `p.yaml:17:`},
		{"circular id", `id: "{parcel}"`, `id: "x{@id}"`, `p.yaml:15:12: id cannot use @id`},
		{"circular time", `at: "{moved_at}"`, `at: "{@at}"`, `p.yaml:16:11: at cannot use @at`},
		{"type from itself", `type: "{type}"`, `type: "{@digest}"`, `p.yaml:3:9: type cannot use @digest`},
		{"at of two fields", `at: "{moved_at}"`, `at: "{day}#{hour}"`, `p.yaml:16:`},
		{"lossy id", `id: "{parcel}"`, `id: "{parcel | upper}"`,
			`p.yaml:15:10: id shows parcel only through a function that loses a part of it: two events could have one id; write {parcel}`},
		{"constant id", `id: "{parcel}"`, `id: "parcel"`, `id is the same for every event`},
		{"lossy key", `pk: "PARCEL#{parcel}"`, `pk: "PARCEL#{parcel | first:3}"`,
			`p.yaml:17:10: key shows parcel, which id uses, only through a function that loses a part of it`},
		{"key without id field", `pk: "PARCEL#{parcel}"`, `pk: "PARCEL"`,
			`key does not use parcel, which id uses: two events with different ids could have one key; write {parcel} or {@id} in sk`},
		{"key without the envelope's id", "    id: \"{shop}#{order}\"\n", "",
			`key does not use @id, and id is the envelope's: two events with different ids could have one key; write {@id} in sk, or an id: of your own`},
		{"key beyond id under latest", `sk: "-"`, `sk: "{status}"`,
			`key uses status, which id does not: under mode latest a newer revision could get another key`},
		{"time in key under latest", `sk: "-"`, `sk: "{@at | time}"`, `key uses moved_at, which id does not: under mode latest`},
		{"empty sk", `sk: "-"`, `sk: ""`, `p.yaml:17:38: sk is empty`},
		{"no sk", `, sk: "-"}`, `}`, `p.yaml:17:5: sk is missing in key`},
		{"index 21", "GSI1:", "GSI21:", `p.yaml:10:7: GSI21 is not an index; write GSI1 to GSI20`},
		{"index 01", "GSI1:", "GSI01:", `GSI01 is not an index`},
		{"half an index", `{pk: "DAY#{@at | day}", sk: "{@id}"}`, `{pk: "DAY#{@at | day}"}`, `p.yaml:10:7: sk is missing in GSI1`},
		{"reserved attribute", "attributes: {status: status}", "attributes: {digest: status}",
			`p.yaml:11:18: the attribute digest is reserved for Ingot; write another name`},
		{"reserved index attribute", "attributes: {status: status}", "attributes: {GSI7SK: status}",
			`the attribute GSI7SK is reserved for Ingot`},
		{"odd attribute", "attributes: {status: status}", "attributes: {\"m:x\": status}", `"m:x" is not an attribute name`},
		{"bad attribute path", "attributes: {status: status}", "attributes: {status: a..b}", `p.yaml:11:26: path "a..b": `},
		{"retain below an hour", "retain: 90d", "retain: 59m", `p.yaml:12:13: retain is less than 1h; write at least 1h`},
		{"duration without unit", "retain: 90d", "retain: 90",
			`p.yaml:12:13: retain is a number, not a duration; write a whole number and s, m, h, d or w, as in 90d`},
		{"duration of zero", "retain: 90d", "retain: 0d", `"0d" is not a duration`},
		{"duration too long", "retain: 90d", "retain: 99999w", `duration 99999w is longer than 200 years`},
		{"unknown mode", "mode: latest", "mode: newest", `p.yaml:18:11: unknown mode newest; write one of insert, latest`},
		{"latest without revision", "    revision: moved_at time\n", "", `p.yaml:18:11: mode latest needs a revision`},
		{"revision under insert", "    retain: 90d", "    retain: 90d\n    revision: seq number",
			`p.yaml:13:15: revision is for mode latest only`},
		{"revision without type", "revision: moved_at time", "revision: moved_at", `p.yaml:19:15: "moved_at" does not say its type`},
		{"revision of odd type", "revision: moved_at time", "revision: moved_at date", `"moved_at date" does not say its type`},
		{"schema", "    retain: 90d", "    retain: 90d\n    schema: x.json",
			`p.yaml:13:13: the schema x.json cannot be read: there is no such file`},
		{"no events", base[strings.Index(base, "events:"):strings.Index(base, "aggregates:")], "events: {}\n", `no event type is declared`},
		{"odd event name", "  moved:\n", "  \"mo#ved\":\n",
			`p.yaml:14:3: the name of an event type cannot contain #, % or control characters`},
		{"ignored in id", "[trace]", "[order]", `p.yaml:6:18: id uses order, which ignore leaves out of the digest of placed`},
		{"ignored in at", "[trace]", "[placed_at]", `p.yaml:7:11: at uses placed_at, which ignore leaves out of the digest of placed`},
		{"ignored in key", "[trace]", "[shop]", `p.yaml:8:22: pk uses shop, which ignore leaves out of the digest of placed`},
		{"ignored in where, by and values", "[trace]", "[total]",
			`p.yaml:26:23: where uses total, which ignore leaves out of the digest of placed`},
		{"ignored in values", "[trace]", "[total]", `p.yaml:26:71: revenue uses total, which ignore leaves out of the digest of placed`},
		{"ignored in by", "[trace]", "[shop]", `p.yaml:23:18: shop uses shop, which ignore leaves out of the digest of placed`},
		{"ignored in revision", "    mode: latest", "    mode: latest\n    ignore: [moved_at]",
			`p.yaml:20:15: revision uses moved_at, which ignore`},
		{"constant type", `type: "{type}"`, `type: place`, `p.yaml:3:7: there is no event type place; write placed`},
		{"type without braces", `type: "{type}"`, `type: type`, `p.yaml:3:7: there is no event type type; write "{type}"`},
		{"type in capitals", `type: "{type}"`, `type: Placed`, `there is no event type Placed; write placed`},
		{"type far from all", `type: "{type}"`, `type: user.created`,
			`there is no event type user.created; write one of moved, placed`},
		{"function in capitals", "{@at | day}", "{@at | unixMs}", `"unixMs" is not a function; write unixms`},
		{"another word for retain", "    retain: 90d", "    retention: 90d", `p.yaml:12:5: unknown name retention; write retain`},
		{"list of by", `by: {shop: "{shop}"}`, `by: [shop]`,
			`p.yaml:23:9: by is a list, not a mapping; write {merchant: "{merchant_id}"}`},
		{"empty where", "where: total > 0", `where: ""`, `p.yaml:26:23: where is empty`},
		{"brackets too deep", "ingot: 1", "ingot: " + strings.Repeat("[", 200_000),
			`p.yaml:1:1: invalid YAML: brackets nest 200002 deep, and at most 1000 are read`},
		{"file too long", "ingot: 1", "ingot: 1" + strings.Repeat(" ", 1<<20), `p.yaml:1:1: invalid YAML: the file has `},
		{"since above epoch", "since: 2", "since: 3",
			`p.yaml:22:12: since: 3 is above the file's epoch 2; write epoch: 3 at the top`},
		{"no since", "    since: 2\n", "", `p.yaml:21:3: since is missing in daily`},
		{"odd aggregate name", "  daily:", "  Daily:", `p.yaml:21:3: "Daily" is not a valid name for an aggregate`},
		{"odd by name", "by: {shop:", "by: {Shop:",
			`p.yaml:23:10: "Shop" is not a valid name; write a lower-case letter, then lower-case letters, digits and _`},
		{"reserved by name", "by: {shop:", "by: {flag:", `p.yaml:23:10: the name flag is reserved for Ingot`},
		{"reserved value name", "orders: count", "n: count", `p.yaml:26:43: the name n is reserved for Ingot; write another name`},
		{"by with a hash", `by: {shop: "{shop}"}`, `by: {shop: "{shop}#x"}`, `p.yaml:23:16: shop has # or % in its text`},
		{"unknown event type", "      moved: {values", "      mved: {values",
			`p.yaml:33:7: there is no event type mved; write moved`},
		{"no from", "    from:\n      moved: {values: {parcels: count, weight: sum weight}}\n", "", `from is missing in live`},
		{"from of nothing", "      moved: {values: {parcels: count, weight: sum weight}}\n", "      {}\n",
			`from has no event type; write from: {moved: {values: {n_events: count}}}`},
		{"null aggregates", base[strings.Index(base, "aggregates:"):], "aggregates:\n", ``},
		{"null text", `sk: "-"`, `sk: ~`, `p.yaml:17:38: sk has no value`},
		{"boolean for text", `sk: "-"`, `sk: true`, `sk is a boolean, not text; write "true"`},
		{"mapping for text", `sk: "-"`, `sk: {a: b}`, `sk is a mapping, not text`},
		{"long where", "{where: total > 0, values: {orders: count, revenue: sum total, largest: max total}}",
			"\n        where: |\n          total > 0\n          and total < 1e6\n        values: {orders: count}", ``},
		{"mistake in a long where", "{where: total > 0, values: {orders: count, revenue: sum total, largest: max total}}",
			"\n        where: |\n          total > 0\n          && total < 1e6\n        values: {orders: count}",
			`p.yaml:27:16: && is not an operator`},
		{"a number compared with text, in another aggregate", "onExpire: subtract\n",
			"onExpire: subtract\n  heavy:\n    since: 1\n    onExpire: subtract\n    from:\n      moved: {where: weight > \"20\", values: {parcels: count}}\n",
			`p.yaml:39:22: where compares weight with "20", and every event needs a number there, for live weight: no event can meet this; write weight > 20`},
		{"a number compared with text, in another value", "parcels: count, ", `parcels: {count: true, where: 'weight in ("1", "2")'}, `,
			`where compares weight with "1", and every event needs a number there, for live weight: no event can meet this; write weight in (1, 2)`},
		{"a number compared with text, in an index", `    mode: latest`,
			"    mode: latest\n    indexes: {GSI2: {pk: \"{parcel}\", sk: \"-\", where: weight = 'much'}}",
			`where compares weight with "much", and every event needs a number there, for live weight: no event can meet this; write a comparison with a number, or exists weight`},
		{"text that a value keeps", "{where: total > 0, values: {orders: count, revenue: sum total, largest: max total}}",
			"{where: total = 'free', values: {last: newest total, kinds: distinct total, orders: count where total = 'paid'}}", ``},
		{"a number that only some events need", "{where: total > 0, values: {orders: count, revenue: sum total, largest: max total}}",
			"{values: {revenue: sum total where kind = 'paid', orders: count where total = 'free'}}", ``},
		{"ignored in a compound where", "where: total > 0", "where: not (exists trace or a in (1)) and total > 0",
			`where uses trace, which ignore`},
		{"odd name", "    retain: 90d", "    ? [a]\n    : b", `invalid YAML: `},
		{"null name", "    retain: 90d", "    ~: b", `a name must be plain text`},
		{"by of nothing known", `by: {shop: "{shop}"}`, `by: {shop: "{shop | x}"}`, `p.yaml:23:25: "x" is not a function`},
		{"long event name", "  moved:\n", "  " + strings.Repeat("m", 257) + ":\n", `the name of an event type is longer than 256 bytes`},
		{"no values", "{values: {parcels: count, weight: sum weight}}", "{values: {}}", `values is empty`},
		{"bad where", "where: total > 0", "where: total >> 0", `p.yaml:26:29: >> is not an operator`},
		{"no value", "orders: count", "orders: median total",
			`p.yaml:26:51: "median total" is not a way to compute a value; write count, sum PATH, sum -PATH, sum NUMBER, min PATH, max PATH, newest PATH, oldest PATH, histogram PATH or distinct PATH`},
		{"unknown value", "orders: count", "orders: counts", `p.yaml:26:51: counts is not a way to compute a value; write count`},
		{"average", "orders: count", "orders: average total",
			`p.yaml:26:51: an average is not kept, because two averages cannot be added up; write sum total, with a count of the same events in a value of its own, and divide when you read`},
		{"count of a field", "orders: count", "orders: count total",
			`p.yaml:26:51: count counts events and reads no field; write count where exists total`},
		{"sum of nothing", "revenue: sum total", "revenue: sum", `sum needs a field; write sum PATH`},
		{"negative max", "largest: max total", "largest: max -total", `only sum can be negated; write min total`},
		{"one value in two ways", "orders: count", "orders: count}}\n      moved: {values: {orders: sum weight",
			`orders is a sum for another event type and a count here`},
		{"max and subtract", "onExpire: keep", "onExpire: subtract",
			`max cannot be subtracted, and onExpire is subtract; write onExpire: keep, or histogram total, or daily without largest`},
		{"oldest under latest", "weight: sum weight", "weight: oldest weight", `oldest cannot be subtracted`},
		{"min under latest, which is told nothing that is then refused", "weight: sum weight", "weight: min weight",
			`write histogram weight, or live without weight`},
		{"a bad onExpire over latest", "onExpire: subtract", "onExpire: never", `unknown onExpire never; write subtract`},
		{"two values in by", `by: {shop: "{shop}"}`, `by: {shop: "{shop}{region.name | lower}"}`,
			`p.yaml:23:16: shop has 2 values, and each name of by has one; write by: {region_name: "{region.name|lower}", shop: "{shop}"}`},
		{"two values in by with a # between", `by: {shop: "{shop}"}`, `by: {shop: "{shop}#{n}#{shop}", other: "{flag}"}`,
			`p.yaml:23:16: shop has 3 values, and each name of by has one; write by: {other: "{flag}", part: "{n}", shop: "{shop}"}`},
		{"by as text", `by: {shop: "{shop}"}`, `by: "{shop}#{region.name}"`,
			`p.yaml:23:9: by is text, not a mapping; write {region_name: "{region.name}", shop: "{shop}"}`},
		{"by as one word", `by: {shop: "{shop}"}`, `by: "{shop}"`, `by is text, not a mapping; write {shop: "{shop}"}`},
		{"by as text that is not a template", `by: {shop: "{shop}"}`, `by: "{shop"`, `write {merchant: "{merchant_id}"}`},
		{"a member of an aggregate in an event type", "    retain: 90d", "    retain: 90d\n    atLeast: {x: 0}",
			`p.yaml:13:5: atLeast does not belong here: it is a member of an aggregate; write atLeast there`},
		{"a member of two mappings elsewhere", "epoch: 2", "epoch: 2\nretain: 30d", `p.yaml:3:1: unknown name retain; write one of `},
		{"max under latest", "weight: sum weight", "weight: min weight", `min cannot be subtracted`},
		{"keep over latest", "    onExpire: subtract\n", "", `onExpire is keep over moved, whose mode is latest`},
		{"unknown onExpire", "onExpire: keep", "onExpire: keeps", `p.yaml:27:15: unknown onExpire keeps; write keep`},
		{"spread 0", "spread: 4", "spread: 0", `p.yaml:28:13: spread is 0; write a whole number from 1 to 1000`},
		{"spread 1001", "spread: 4", "spread: 1001", `spread is 1001; write a whole number from 1 to 1000`},
		{"retain without window", "    window: 1d\n", "", `p.yaml:28:13: retain needs window`},
		{"retain too short", "retain: 400d", "retain: 96d",
			`p.yaml:29:13: retain is 96d and events of placed live for 90d: a total must outlive them by 7d; write at least 97d`},
		{"retain over events kept for ever", "    retain: 90d\n", "", `the totals expire and events of placed never do`},
	} {
		if !strings.Contains(base, c.old) {
			t.Fatalf("%s: base has no %q", c.name, c.old)
		}
		text := strings.Replace(base, c.old, c.new, 1)
		_, err := loadText(text)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			continue
		}
		var ms Mistakes
		if !errors.As(err, &ms) {
			t.Errorf("%s: no mistake found (%v)", c.name, err)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s:\n got %v\nwant %s", c.name, err, c.want)
		}
		for _, m := range ms {
			if m.Line < 1 || m.Column < 1 || m.File != "p.yaml" {
				t.Errorf("%s: no position: %+v", c.name, m)
			}
		}
		saysWhatToWrite(t, c.name, ms)
	}
}

// saysWhatToWrite checks that each mistake says what to write. It is in Instead, or in What if the
// file as a whole cannot be read.
func saysWhatToWrite(t *testing.T, name string, list []Mistake) {
	t.Helper()
	for _, m := range list {
		if m.Instead == "" && !strings.Contains(m.What, "; save it as UTF-8") && !strings.Contains(m.What, ", and at most ") {
			t.Errorf("%s: nothing says what to write: %s", name, m)
		}
	}
}

// A message says what a member or a name needs in words that can be written.
func TestWhatToWrite(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"no version", "ingot: 1\n", "", `ingot is missing in the file; write ingot: 1`},
		{"no epoch", "epoch: 2\n", "", `epoch is missing in the file; write epoch: 1`},
		{"no key", `    key: {pk: "PARCEL#{parcel}", sk: "-"}` + "\n", "",
			`p.yaml:14:3: key is missing in moved; write key: {pk: "…", sk: "…"}`},
		{"no sk", `, sk: "-"}`, `}`, `sk is missing in key; write sk: "ORDER"`},
		{"no since", "    since: 2\n", "",
			`since is missing in daily; write since: and the epoch that introduces this definition, 1 in a first file`},
		{"no from", "    from:\n      moved: {values: {parcels: count, weight: sum weight}}\n", "",
			`from is missing in live; write from: {order.placed: {values: {orders: count}}}`},
		{"text for a number", "epoch: 2", `epoch: "2"`, `epoch is text, not a whole number; write 2 without quotes`},
		{"a word for a number", "epoch: 2", `epoch: two`,
			`epoch is text, not a whole number; write a whole number from 1 to 1000000000`},
		{"half a number", "epoch: 2", `epoch: 2.5`,
			`epoch is a number, not a whole number; write a whole number from 1 to 1000000000`},
		{"repeated", "epoch: 2", "epoch: 2\nepoch: 3", `epoch is already declared on line 2; write one of the two`},
		{"second document", "aggregates:", "---\naggregates:",
			`a second YAML document begins here, and a pipeline is one document; write one document, without this --- and what follows it`},
		{"a list of events", base[strings.Index(base, "events:"):strings.Index(base, "aggregates:")], "events: []\n",
			`p.yaml:3:9: events is a list, not a mapping; write {order.placed: {id: "{order_id}", at: "{placed_at}", key: {pk: "ORDER#{order_id}", sk: "ORDER"}}}`},
		{"no events", base[strings.Index(base, "events:"):strings.Index(base, "aggregates:")], "events: {}\n",
			`no event type is declared; write events: {order.placed: {id: "{order_id}", at: "{placed_at}", key: {pk: "ORDER#{order_id}", sk: "ORDER"}}}`},
		{"a cut condition", "where: total > 0", `where: total >`,
			`found the end where the condition needs a number, quoted text, true or false; write a comparison such as total > 0, status = 'paid' or status in ('paid', 'sent')`},
		{"an odd operator", "where: total > 0", "where: total >> 0", `>> is not an operator; write one of = != < <= > >=`},
		{"a text for an event type", base[strings.Index(base, "  moved:"):strings.Index(base, "aggregates:")], "  moved: x\n",
			`moved is text, not a mapping; write {id: "{order_id}"`},
	} {
		text := strings.Replace(base, c.old, c.new, 1)
		if c.name == "a list of events" { // without what precedes it in line 3
			text = strings.Replace(text, "type: \"{type}\"\n", "", 1)
		}
		refused(t, text, c.want)
	}
}

// A name that no event type can have is not suggested, and what follows from it is not reported
// again.
func TestNoIllegalNameIsSuggested(t *testing.T) {
	text := strings.Replace(base, "  placed:\n", "  pla#ced:\n", 1)
	if _, err := loadText(text); err == nil || strings.Contains(err.Error(), "\n") ||
		!strings.HasPrefix(err.Error(), "p.yaml:5:3: the name of an event type cannot contain #, % or control characters; write letters, "+
			"digits, . and - alone, at most 256, such as \"order.placed\"") {
		t.Errorf("%v", err)
	}
	far := strings.Replace(text, "      placed: {where", "      orders: {where", 1)
	if _, err := loadText(far); err == nil || !strings.HasSuffix(err.Error(), "there is no event type orders; write moved") {
		t.Errorf("%v", err)
	}
	constant := strings.Replace(text, `type: "{type}"`, "type: place", 1)
	if _, err := loadText(constant); err == nil || strings.Contains(err.Error(), "write pla#ced") {
		t.Errorf("%v", err)
	}
}

// The rest of a file of another format may mean anything, so its version is the only mistake.
func TestAnotherFormatIsTheOneMistake(t *testing.T) {
	for _, text := range []string{
		strings.Replace(base, "ingot: 1", "ingot: 2", 1) + "streams: [a]\nepoch: x\n",
		"ingot: 2", "{ingot: 2, ingot: 1}", "new: {a: &b 1}\n1: key\ningot: 2\n---\nanother: document\n",
	} {
		_, err := loadText(text)
		if err == nil || !strings.HasPrefix(err.Error(), "p.yaml:") || strings.Contains(err.Error(), "\n") ||
			!strings.HasSuffix(err.Error(), ": ingot: 2 is not a file format that this build reads: it reads 1; write ingot: 1") {
			t.Errorf("%s\n%v", text, err)
		}
	}
	// A text that is not a version at all is one mistake among others.
	for _, version := range []string{"two", "1.5", "[1]"} {
		if _, err := loadText("ingot: " + version + "\nepoch: 0\n"); err == nil || strings.Count(err.Error(), "\n") < 2 {
			t.Errorf("ingot: %s: %v", version, err)
		}
	}
}

// A misspelt or wrong member is reported once, and nothing that follows from it is reported.
func TestNothingFollowsFromAMistake(t *testing.T) {
	also := base + `  best:
    since: 2
    by: {shop: "{shop}"}
    rank: {value: cents}
    from:
      placed: {values: {cents: sum total}}
  stock:
    since: 2
    movedBy: put
    atLeast: {left: 0}
    from:
      placed: {values: {left: sum -total}}
patterns:
  days: {read: [placed], index: GSI1}
  story: {read: [placed]}
  sums: {total: daily}
`
	mustLoad(t, also)
	for _, c := range []struct{ old, new string }{
		{"epoch: 2", "epcoh: 2"},
		{"events:", "evnts:"},
		{"aggregates:", "agregates:"},
		{"    indexes:", "    indexs:"},
		{"    since: 2", "    sinse: 2"},
		{"    window: 1d", "    window: 1day"},
		{"    window: 1d", "    windw: 1d"},
		{"    retain: 90d", "    retention: 90d"},
		{"    mode: latest", "    mod: latest"},
		{"    mode: latest", "    mode: [latest]"},
		{"    revision: moved_at", "    revison: moved_at"},
		{"    onExpire: subtract", "    onExpires: subtract"},
		{`    id: "{parcel}"`, `    ID: "{parcel}"`},
		{`sk: "-"`, `sl: "-"`},
		{"      moved: {values: {", "      moved: {vales: {"},
		{"cents: sum total", "cents: add total"},
		{"values: {cents:", "vales: {cents:"},
		{"left: sum -total", "left: {add: total}"},
		{"    from:\n      placed: {values: {left", "    form:\n      placed: {values: {left"},
	} {
		if !strings.Contains(also, c.old) {
			t.Fatalf("the file has no %q", c.old)
		}
		_, err := loadText(strings.Replace(also, c.old, c.new, 1))
		var ms Mistakes
		if !errors.As(err, &ms) || len(ms) != 1 {
			t.Errorf("%s: %v", c.new, err)
		}
	}
	// If the right member is there as well, it is checked.
	refused(t, strings.Replace(base, "    retain: 90d", "    retain: 20m\n    retian: 90d", 1), "retain is less than 1h")
}

// A path is ignored with everything inside it, but nothing around it is ignored.
func TestIgnoreReachesInside(t *testing.T) {
	inside := strings.Replace(strings.Replace(base, "[trace]", "[total]", 1), "sum total,", "sum total.net,", 1)
	refused(t, inside, "revenue uses total.net, which ignore leaves out")
	mustLoad(t, strings.Replace(base, "[trace]", "[total.net]", 1))
	refused(t, strings.NewReplacer("[trace]", `["lines[].at"]`, `at: "{placed_at}"`, `at: "{lines[0].at}"`).Replace(base),
		"at uses lines[0].at, which ignore leaves out")
}

// The checks must let all of these pass.
func TestAllowed(t *testing.T) {
	for _, c := range []struct{ name, old, new string }{
		{"a shortened id beside the whole one", `{pk: "PARCEL#{parcel}", sk: "-"}`, `{pk: "PARCEL#{@id | shard:8}", sk: "{@id}"}`},
		{"the id instead of its fields", `{pk: "PARCEL#{parcel}", sk: "-"}`, `{pk: "{@id}", sk: "{@type}"}`},
		{"a keyed hash of an id field", `pk: "PARCEL#{parcel}"`, `pk: "PARCEL#{parcel | hmac}"`},
		{"a whole hash of an id field", `pk: "PARCEL#{parcel}"`, `pk: "PARCEL#{parcel | sha256}"`},
		{"the digest as id, and any field in the key", `id: "{shop}#{order}"`, `id: "{@digest}"`},
		{"the digest in the key", `{pk: "SHOP#{shop}", sk: "ORDER#{order}"}`, `{pk: "SHOP#{shop}", sk: "{@digest}"}`},
		{"time in an id", `id: "{shop}#{order}"`, `id: "{shop}#{order}#{@at}"`},
		{"indexes of what is ignored", `"DAY#{@at | day}"`, `"TRACE#{trace}"`},
		{"attributes of what is ignored", "{status: status}", "{status: trace}"},
		{"retain exactly 7d longer", "retain: 400d", "retain: 97d"},
		{"a week's window", "window: 1d", "window: 1w"},
		{"an aggregate of two types", "      moved: {values", "      placed: {values: {parcels: count}}\n      moved: {values"},
	} {
		text := strings.Replace(base, c.old, c.new, 1)
		if c.name == "the digest as id, and any field in the key" {
			text = strings.Replace(text, `sk: "ORDER#{order}"`, `sk: "ORDER#{order}#{@id}"`, 1)
		}
		if c.name == "time in an id" {
			text = strings.Replace(text, `sk: "ORDER#{order}"`, `sk: "{@at}#{order}"`, 1)
		}
		p, err := loadText(text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if w := p.Describe().Warnings; len(w) > 0 && c.name != "the digest in the key" {
			t.Errorf("%s: warned: %v", c.name, w)
		}
	}
}

// TestExamplesAreNotDoubted shows that nothing in the examples is probably not meant. The key of
// the ledger's entries uses the time of their transfer, which their id does not: a correction is a
// Conflict of the transfer.
func TestExamplesAreNotDoubted(t *testing.T) {
	files, err := fs.Glob(os.DirFS("../examples"), "*/pipeline.yaml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		p, err := Load(os.DirFS("../examples"), file, CheckOnly())
		must.Succeed(t, err)
		if w := p.Describe().Warnings; len(w) > 0 {
			t.Errorf("%s: %v", file, w)
		}
	}
}

func TestEveryWarning(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"key beyond id", `sk: "ORDER#{order}"`, `sk: "ORDER#{order}#{status}"`,
			`p.yaml:8:10: key uses status, which id does not: an event that is sent again with a correction would make a second item`},
		{"time in key", `sk: "ORDER#{order}"`, `sk: "ORDER#{order}#{@at | time}"`, `key uses placed_at, which id does not`},
		{"by without braces", `by: {shop: "{shop}"}`, `by: {shop: shop}`,
			`p.yaml:23:16: shop is the text shop for every event, which groups nothing; write "{shop}"`},
		{"by of one text", `by: {shop: "{shop}"}`, `by: {shop: "all shops"}`,
			`shop is the text all shops for every event, which groups nothing`},
		{"no time", "    at: \"{placed_at}\"\n", "",
			`p.yaml:6:5: at is missing, and a message that is bare JSON has no other time: it would be refused; write at: with the field of its time, such as "{placed_at}", beside key, unless all its messages come in an envelope`},
		{"shared keys", `{pk: "PARCEL#{parcel}", sk: "-"}`, `{pk: "SHOP#{parcel}", sk: "ORDER#{parcel}"}`,
			`events of moved and placed can have the same key`},
	} {
		w := mustLoad(t, strings.Replace(base, c.old, c.new, 1)).Describe().Warnings
		if len(w) != 1 || !strings.Contains(w[0].String(), c.want) {
			t.Errorf("%s: %v", c.name, w)
		}
		saysWhatToWrite(t, c.name, w)
	}
}

func FuzzLoad(f *testing.F) {
	corpus.Add(f)
	for _, name := range []string{"testdata/orders.yaml", "testdata/mistakes.yaml"} {
		text, err := os.ReadFile(name)
		must.Succeed(f, err)
		f.Add(text)
	}
	f.Add([]byte(base))
	f.Add([]byte("ingot: 1\nevents: {a: {key: {pk: '{@id}', sk: '-'}}}\n"))
	f.Add([]byte("? [a]\n: *x\n<<: {a: &b 1}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := loadText(string(text))
		var ms Mistakes
		switch {
		case err == nil && len(p.Describe().Spec.Events) == 0:
			t.Fatal("a pipeline without event types")
		case err != nil && !errors.As(err, &ms):
			t.Fatalf("%T: %v", err, err)
		case err != nil && len(ms) == 0:
			t.Fatal("an error without a mistake")
		}
	})
}
