package sample

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// plain is a pipeline without hmac, so that keys and details are shown.
const plain = `ingot: 1
epoch: 1
type: "{type}"
events:
  placed:
    id: "{shop}#{order}"
    at: "{at}"
    key: {pk: "SHOP#{shop}", sk: "ORDER#{order}"}
    indexes: {GSI1: {pk: "CUSTOMER#{customer}", sk: "{@id}"}}
    attributes: {status: status}
    retain: 30d
  moved:
    id: "{parcel}"
    at: "{at}"
    key: {pk: "PARCEL#{parcel}", sk: "-"}
    mode: latest
    revision: seq number
aggregates:
  daily:
    since: 1
    by: {shop: "{shop}"}
    window: 1d
    from: {placed: {where: total > 0, values: {orders: count, revenue: sum total}}}
`

var now = must.Time("2026-03-15T00:00:00Z")

func sampler(t *testing.T, text string) *Sampler {
	t.Helper()
	p, err := pipeline.Load(files{text}, "p.yaml", pipeline.Secret([]byte("secret")))
	must.Succeed(t, err)
	return &Sampler{Pipeline: p, Now: now}
}

// read judges lines by a pipeline.
func read(t *testing.T, s *Sampler, lines string) *Report {
	t.Helper()
	r, err := s.Read("sample.ndjson", strings.NewReader(lines))
	must.Succeed(t, err)
	return r
}

func placed(shop, order string, more string) string {
	return fmt.Sprintf(`{"type":"placed","shop":%q,"order":%q,"customer":"c1","status":"new","at":"2026-03-14T09:00:00Z","total":5%s}`,
		shop, order, more) + "\n"
}

func moved(seq int, status string) string {
	return fmt.Sprintf(`{"type":"moved","parcel":"p1","at":"2026-03-14T09:00:00Z","seq":%d,"status":%q}`, seq, status) + "\n"
}

var lines = placed("a", "1", "") + placed("a", "1", "") + placed("a", "1", `,"note":"x"`) + placed("a", "2", "") + placed("b", "1", "") +
	"\n" + moved(2, "out") + moved(1, "in") + moved(2, "out") + moved(2, "lost") + moved(3, "there") +
	strings.Replace(placed("b", "2", ""), `"customer":"c1"`, `"customer":null`, 1) +
	strings.Replace(placed("b", "3", ""), `"total":5`, `"total":"5"`, 1) +
	strings.Replace(placed("b", "4", ""), `"total":5`, `"total":{}`, 1) +
	strings.Replace(placed("b", "", ""), `"status":"new",`, "", 1) +
	strings.Replace(placed("b", "5", ""), "2026-03-14T", "2026-01-14T", 1) +
	"nonsense\n{\"type\":\"plaecd\"}\n[]\n{\"type\":\"placed\",\"shop\":\"\\u001b[31m\",\"order\":\"esc\",\"customer\":7,\"at\":\"2026-03-14T09:00:00Z\"}\n"

// Events of a type that a migration moves are judged as after its turn.
func TestBeforeTheTurn(t *testing.T) {
	s := sampler(t, strings.Replace(plain, "    retain: 30d\n", "    migrated: orders\n", 1))
	if r := read(t, s, placed("a", "1", "")+placed("a", "1", "")); len(r.Verdicts) != 2 || r.Verdicts[0].Verdict != "Inserted" ||
		r.Verdicts[1].Verdict != "Duplicate" {
		t.Errorf("%+v", r)
	}
}

func TestReport(t *testing.T) {
	r := read(t, sampler(t, plain), lines)
	golden.File(t, "testdata/report.txt", r.Text())
	if strings.Contains(r.Text(), "\x1b") || r.Poison() == 0 {
		t.Error("a control character, or no Poison")
	}
	sum := 0
	for _, v := range r.Verdicts {
		sum += v.Count
	}
	must.Equal(t, sum, r.Lines)
}

// What pipeline.yaml hashes is personal. The report shows no key with such a value, or with a hash
// of one, and quotes no such value. All other keys are shown.
func TestPersonalKeysAreNotPrinted(t *testing.T) {
	hidden := strings.Replace(plain, "CUSTOMER#{customer}", "CUSTOMER#{customer | hmac}", 1)
	hidden = strings.Replace(hidden, "indexes: {GSI1:",
		`indexes: {GSI2: {pk: "C#{customer}", sk: "-"}, GSI3: {pk: "O#{order}", sk: "-"}, GSI1:`, 1)
	hidden = strings.Replace(hidden, "aggregates:\n", `aggregates:
  buyers: {since: 1, by: {customer: "{customer | hmac}"}, from: {placed: {values: {orders: count}}}}
  clear: {since: 1, by: {customer: "{customer}"}, from: {placed: {values: {orders: count}}}}
`, 1)
	text := strings.Replace(placed("shop-1", "order-1", ""), `"c1"`, `"secret-c1"`, 1) +
		strings.Replace(placed("x", "y", ""), "2026-03-14T09:00:00Z", "secret-time", 1) +
		`{"type":"other"}` + "\n" + "secret-nonsense\n" + moved(1, "in")
	r := read(t, sampler(t, hidden), text)
	got := r.Text()
	if all := fmt.Sprintf("%s %+v", got, r); strings.Contains(all, "secret-") {
		t.Error(all)
	}
	for _, want := range []string{"GSI1   1 different  1 of 1  key hash ", "GSI2   1 different  1 of 1  key hash ", "O#order-1\n",
		"SHOP#shop-1\n", "PARCEL#p1\n", "#shop-1  2026-03-14",
		"buyers  1 different  1 of 1  key hash ", "clear   1 different  1 of 1  key hash ", `there is no event type "other"`,
		`field at: "***" is not an RFC 3339 time`} {
		must.Say(t, got, want)
	}
}

// However long the file is, only so many lines are rehearsed, and only so many keys are kept. All
// lines are planned. The report then says that its numbers are bounds.
func TestMemoryIsBounded(t *testing.T) {
	const events = 3000
	pr, pw := io.Pipe()
	go func() {
		for i := range events {
			fmt.Fprint(pw, placed(fmt.Sprint("shop", i%2000), fmt.Sprint(i), ""))
			if i%10 == 0 {
				fmt.Fprint(pw, placed("hot", fmt.Sprint(i), ""))
			}
		}
		fmt.Fprint(pw, "nonsense\n")
		pw.Close()
	}()
	s, seconds := sampler(t, plain), 0
	s.Clock = func() time.Time { seconds++; return now.Add(time.Duration(seconds) * time.Second) }
	r, err := s.Read("s", pr)
	must.Succeed(t, err)
	keys := r.Keys[0]
	if r.Rehearsed != 4 || r.Lines != events*11/10+1 || r.Poison() != 1 || keys.Distinct != maxHot {
		t.Errorf("%d of %d lines rehearsed, %d Poison, %+v", r.Rehearsed, r.Lines, r.Poison(), keys)
	}
	if top := keys.Top[0]; top.PK != "SHOP#hot" || top.AtLeast > events/10 || top.AtMost < events/10 {
		t.Errorf("the hottest is %+v", top)
	}
	text := r.Text()
	for _, want := range []string{"at least ", "over 1,000 different", "Only the first 4 events were rehearsed"} {
		must.Say(t, text, want)
	}
}

func TestAFileThatCannotBeRead(t *testing.T) {
	broken := io.MultiReader(strings.NewReader("{}\n"), iotest.ErrReader(errors.New("no more")))
	_, err := sampler(t, plain).Read("s", broken)
	must.Equal(t, fmt.Sprint(err), "s:2: no more")
	if r := read(t, sampler(t, plain), ""); r.Lines != 0 || r.Poison() > 0 {
		t.Errorf("%+v", r)
	}
}

// files is a file system with one file.
type files struct{ text string }

func (f files) Open(string) (fs.File, error)    { return nil, fs.ErrInvalid }
func (f files) ReadFile(string) ([]byte, error) { return []byte(f.text), nil }

// Each event of a line that is an array counts as a line of its own.
func TestArraysOfASample(t *testing.T) {
	one, two, again := strings.TrimSpace(placed("a", "1", "")), strings.TrimSpace(placed("a", "2", "")),
		strings.TrimSpace(placed("b", "1", ""))
	text := one + "\n[" + one + "," + two + ",7]\n[]\n" + again + "\n"
	counts := func(file string) map[event.Verdict]int {
		found := map[event.Verdict]int{}
		r, sum := read(t, sampler(t, file), text), 0
		for _, v := range r.Verdicts {
			verdict, _ := event.ParseVerdict(v.Verdict)
			found[verdict] += v.Count
			sum += v.Count
		}
		must.Equal(t, r.Lines, sum)
		return found
	}
	if got := counts(strings.Replace(plain, "type: ", "batches: true\ntype: ", 1)); got[event.Inserted] != 3 || got[event.Duplicate] != 1 ||
		got[event.Poison] != 2 {
		t.Errorf("%v", got)
	}
	inside := strings.Replace(plain, "type: ", "drop: [ping]\nbatches: [{each: list}]\ntype: ", 1)
	text = `{"list":[` + one + `,{"type":"ping"},` + two + `,7]}` + "\n" + one + "\n"
	if got := counts(inside); got[event.Inserted] != 2 || got[event.Duplicate] != 1 || got[event.Dropped] != 1 || got[event.Poison] != 1 {
		t.Errorf("inside an object: %v", got)
	}
	text = one + "\n[" + one + "," + two + ",7]\n[]\n" + again + "\n"
	if got := counts(plain); got[event.Inserted] != 2 || got[event.Poison] != 2 {
		t.Errorf("without batches: %v", got)
	}
}

// An event that can be planned, and that the function refuses as Poison, counts nowhere.
func TestTooFarAhead(t *testing.T) {
	s := sampler(t, `{ingot: 1, epoch: 1, type: post, events: {
  post: {id: "{at}", at: "{at}", key: {pk: "{at}", sk: "-"}, offload: {over: 1KB}}}}`)
	at := now.Add(tables.MaxAhead + time.Second).Format(time.RFC3339)
	r := read(t, s, fmt.Sprintf(`{"at":%q,"text":%q}`, at, strings.Repeat("x", 2000)))
	if len(r.Verdicts) != 1 || r.Verdicts[0].Reason != string(event.TooFarAhead) ||
		r.Verdicts[0].Type != "post" || r.Items.Count != 0 {
		t.Errorf("%+v", r)
	}
}

const transfers = `ingot: 1
epoch: 1
type: "{type}"
events:
  transfer:
    id: "{id}"
    at: "{at}"
    key: {pk: "TRANSFER#{id}", sk: "-"}
    atomic: true
  entry:
    part: {of: transfer, each: entries, with: [id]}
    id: "{id}#{account}"
    key: {pk: "ACCOUNT#{account}", sk: "{id}"}
    indexes: {GSI1: {pk: "BOOK#{book}", sk: "{@id}"}}
aggregates:
  balances:
    since: 1
    by: {account: "{account}"}
    from: {entry: {values: {cents: sum cents}}}
`

func transfer(id, from, to string) string {
	return fmt.Sprintf(
		`{"type":"transfer","id":%q,"at":"2026-03-14T09:00:00Z","entries":[{"account":%q,"book":"b","cents":-5},{"account":%q,"book":"b","cents":5}]}`, id, from, to) + "\n"
}

// The parts of an event cost and count too: they are items, with keys of their own and totals. A
// transaction costs twice as much.
func TestPartsOfASample(t *testing.T) {
	lines := transfer("1", "a", "b") + transfer("2", "b", "c") + transfer("2", "b", "c")
	for name, c := range map[string]struct {
		file  string
		units int
	}{
		"atomic": {transfers, 2 * (1 + 2*2) * 2},
		"apart":  {strings.Replace(transfers, "    atomic: true\n", "", 1), 2 * (1 + 2*2)},
		"totals with the put": {strings.NewReplacer("    atomic: true\n", "", "    since: 1\n",
			"    since: 1\n    movedBy: put\n").Replace(transfers), 2 * (1 + 2*2*2)},
	} {
		s := sampler(t, c.file)
		r := read(t, s, lines)
		if r.Items.Count != 6 || r.Items.Parts != 4 || r.Items.Units != c.units || r.Updates.Count != 4 || r.Updates.Each != 2 ||
			r.Updates.Most != 2 {
			t.Errorf("%s: %+v, %+v; want %d units", name, r.Items, r.Updates, c.units)
		}
		for _, want := range []string{"table  5 different  2 of 6  ACCOUNT#b\n", "GSI1   1 different  4 of 4  BOOK#b\n",
			"balances  3 different  2 of 4  A#balances#1#0#b  -\n",
			"items    6 of ", " on average; 4 of them are parts\n", "2.00 totals moved by each event on average, 2 at most"} {
			must.Say(t, r.Text(), want)
		}
	}
}

// A second owner of a unique value is a Conflict, and nothing of its message is stored.
func TestClaimsOfASample(t *testing.T) {
	file := `{ingot: 1, epoch: 1, type: "{type}", events: {account: {id: "{id}", at: "{at}", key: {pk: "ACCOUNT#{id}", sk: "-"}, atomic: true},
  email: {part: {of: account, with: [email]}, id: "{email}", key: {pk: "EMAIL#{email}", sk: "-"}},
  name: {part: {of: account, with: [name]}, id: "{name}", key: {pk: "NAME#{name}", sk: "-"}}}}`
	account := func(id, email, name string) string {
		return fmt.Sprintf(`{"type":"account","id":%q,"email":%q,"name":%q,"at":"2026-03-14T09:00:00Z"}`, id, email, name) + "\n"
	}
	s := sampler(t, file)
	r := read(t, s, account("1", "x", "n")+account("2", "x", "m")+account("1", "x", "n")+account("3", "y", "m")+account("4", "z", "n"))
	found := map[string]int{}
	for _, v := range r.Verdicts {
		found[v.Verdict] += v.Count
	}
	must.Equal(t, fmt.Sprint(found), "map[Conflict:2 Duplicate:1 Inserted:2]")
	if i := slices.IndexFunc(r.Verdicts, func(v Verdict) bool {
		return v.Reason == string(event.Claimed)
	}); i < 0 || r.Verdicts[i].Count != 2 || r.Verdicts[i].Line != 2 || r.Items.Count != 6 {
		t.Errorf("%+v, %+v", r.Verdicts, r.Items)
	}
}

// Of a field that no event has, the report says which name is near, and where the file names it.
func TestFieldThatNoEventHas(t *testing.T) {
	s := sampler(t, strings.Replace(plain, "sum total", "sum totl", 1))
	s.Name, s.Text = "p.yaml", []byte(strings.Replace(plain, "sum total", "sum totl", 1))
	r := read(t, s, placed("a", "1", "")+placed("b", "2", `,"totl2":1`))
	want := Path{Type: "placed", Path: "totl", Uses: []string{"daily revenue"}, Of: 2, Absent: 2, Meant: "total",
		Place: "p.yaml:23"}
	if i := slices.IndexFunc(r.Paths, func(p Path) bool { return p.Path == "totl" }); i < 0 || fmt.Sprint(r.Paths[i]) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", r.Paths, want)
	}
}

func TestWhatTheReportSays(t *testing.T) {
	var many strings.Builder
	for i := range 3 * maxHot {
		many.WriteString(placed(fmt.Sprint(i), "1", ""))
	}
	floored := strings.Replace(transfers, "    from: {entry", "    movedBy: put\n    atLeast: {cents: 0}\n    from: {entry", 1)
	for want, c := range map[string]struct{ file, lines string }{
		// If no key stands out, none is named, because chance decides which keys were kept last.
		"table  over 1,000 different  none of them more than 3 of 3,000": {plain, many.String()},
		// A floor may refuse some of those that the report takes for Inserted.
		"  2 of the Inserted need room in a total with a bound. They are Rejected if it has none.\n": {floored,
			transfer("1", "a", "b") + transfer("2", "b", "c") + transfer("2", "b", "c") +
				`{"type":"transfer","id":"3","at":"2026-03-14T09:00:00Z","entries":[{"account":"a","book":"b","cents":5}]}`},
		// The fields of parts are looked at like those of events.
		"  entry  book  absent 1 of 4  may be missing  read by GSI1.pk\n": {transfers,
			transfer("1", "a", "b") + strings.Replace(transfer("2", "b", "c"), `"book":"b",`, "", 1)},
	} {
		if text := read(t, sampler(t, c.file), c.lines).Text(); !strings.Contains(text, want) || strings.Contains(text, "SHOP#") {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
