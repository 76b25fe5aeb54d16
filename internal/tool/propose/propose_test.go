package propose

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/ndjson"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

func proposal(t *testing.T, lines string) *Proposal {
	t.Helper()
	s, err := Read(strings.NewReader(lines))
	must.Succeed(t, err)
	return s.Proposal()
}

// taken compiles the proposal and plans the sample with it. Nothing may be refused.
func taken(t *testing.T, p *Proposal) {
	t.Helper()
	planned, poison, err := p.Check()
	if err != nil {
		t.Fatalf("%v\n%s", err, p.YAML())
	}
	if len(poison) > 0 || planned != len(p.sample.events) {
		t.Fatalf("planned %d of %d events; poison %v\n%s", planned, len(p.sample.events), poison, p.YAML())
	}
}

// wants fails for each line that the proposal lacks. It must not have those with - in front.
func wants(t *testing.T, p *Proposal, lines ...string) {
	t.Helper()
	text := string(p.YAML())
	for _, line := range lines {
		if unwanted, not := strings.CutPrefix(line, "-"); strings.Contains(text, unwanted) == not {
			t.Errorf("the proposal lacks %q", line)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// made makes so many lines.
func made(n int, line func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(line(i) + "\n")
	}
	return b.String()
}

// shop returns a sample of two types. A payment belongs to an order.
func shop(n int) string {
	begin := must.Time("2026-03-01T00:00:00Z")
	return made(n, func(i int) string {
		at := begin.Add(time.Duration(i) * time.Minute).Format(time.RFC3339)
		return fmt.Sprintf(`{"type":"order.placed","order_id":"o%d","customer_id":"c%d","placed_at":%q,"currency":"EUR","total_cents":%d,"sent_at":%q}`+
			"\n"+`{"type":"order.paid","order_id":"o%d","payment_id":"p%d","paid_at":%q,"amount_cents":%d}`, i, i%7, at, 100+i, at, i/2, i, at, 100+i)
	})
}

// cloud returns a CloudEvent of each type.
func cloud(types ...string) string {
	return made(len(types), func(i int) string {
		return fmt.Sprintf(`{"specversion":"1.0","id":"%d","source":"/a","type":%q,"time":"2026-03-01T00:00:00Z","data":{}}`, i, types[i])
	})
}

// What is proposed fits every event of the sample, and has these lines.
func TestProposals(t *testing.T) {
	quoted := made(30, func(i int) string {
		return fmt.Sprintf(`{"type":"trip","trip_id":"T-%d","fare":{"amount":"%d.50"},"zip":"1011%d","at":"2026-05-03T00:00:%02d+05:45"}`,
			i, i, i%3, i)
	})
	signups := made(10, func(i int) string {
		return fmt.Sprintf(`{"type":"signup","email":"u%d@example.com","at":"2026-03-01T00:00:%02dZ"}`, i, i)
	})
	for name, c := range map[string]struct {
		lines string
		wants []string // "-" in front: not
	}{
		"a shop": {shop(120), []string{
			"# certain: every event has it, and it has 2 values\ntype: \"{type}\"",
			"  order.placed:   # 120 events\n    # certain: order_id is different in all 120 events\n    id: \"{order_id}\"",
			`at: "{placed_at}"`, `key: {pk: "ORDER#{order_id}", sk: "PLACED"}`, `id: "{order_id}#{payment_id}"`,
			`key: {pk: "ORDER#{order_id}", sk: "PAID#{payment_id}"}`, `#   GSI1: {pk: "CUSTOMER#{customer_id}", sk: "{@at | time}#{@id}"}`,
			`# ignore: [sent_at]   # take out the # if`, `order.placed: {values: {events: count, total_cents: sum total_cents}}`,
			`by: {currency: "{currency}"}`}},
		"copies that differ in what is filled anew": {made(100, func(i int) string {
			line := fmt.Sprintf(`{"type":"visit","visit_id":"v%d","at":"2026-03-01T00:%02d:00Z","trace_id":"t%d"}`, i, i%60, i)
			if i%10 == 0 {
				line += "\n" + strings.Replace(line, `_id":"t`, `_id":"u`, 1)
			}
			return line
		}), []string{`id: "{visit_id}"`, "# likely: of events with the same visit_id there are 10 more, which differ in trace_id alone",
			"ignore: [trace_id]"}},
		"device and time tell readings apart": {made(200, func(i int) string {
			return fmt.Sprintf(`{"device_id":"d%d","ts":%d,"celsius":%d.5}`, i%4, 1_772_323_200+i/4*60, i%30)
		}), []string{`type: "event"`, `id: "{device_id}#{@at | time}"`, `at: "{ts | unix}"`,
			`key: {pk: "DEVICE#{device_id}", sk: "EVENT#{@at | time}"}`}},
		"envelopes, whose payloads are not bare": {cloud("ping", "ping"), []string{"The id is the envelope's.",
			"The time is the envelope's.",
			`key: {pk: "PING#{@id}", sk: "PING"}`, "-\ntype:"}},
		// The names of types are those of producers: with a domain in reverse, with blanks, and
		// with shortened words. Two vendors may have an event of the same name.
		"domains": {cloud("com.acme.parcel.shipped.v1", "com.acme.parcel.delivered.v1"), []string{
			"# guess: no field of the payload tells these events apart, so the id of the envelope does",
			`key: {pk: "PARCEL#{@id}", sk: "SHIPPED_V1"}`, `key: {pk: "PARCEL#{@id}", sk: "DELIVERED_V1"}`}},
		"two vendors": {cloud("com.acme.parcel.shipped", "com.rival.parcel.shipped"),
			[]string{`sk: "ACME_PARCEL_SHIPPED"`, `sk: "RIVAL_PARCEL_SHIPPED"`}},
		"blanks": {cloud("EC2 Instance State-change Notification", "Order Placed", "user/created"), []string{
			`key: {pk: "EC2#{@id}", sk: "INSTANCE_STATE_CHANGE_NOTIFICATION"}`, `key: {pk: "ORDER#{@id}", sk: "PLACED"}`,
			`key: {pk: "USER#{@id}", sk: "CREATED"}`}},
		"a sum over two currencies means nothing": {made(6, func(i int) string {
			return fmt.Sprintf(`{"id":"evt_%d","type":"charge.succeeded","created":%d,"data":{"object":{"id":"ch_%d","amount":%d,"currency":%q}}}`,
				i, 1_790_000_000+i, i, 100*i, []string{"eur", "usd"}[i%2])
		}), []string{`by: {currency: "{data.object.currency}"}`, "amount: sum data.object.amount}"}},
		"personal fields are hashed": {signups, []string{`id: "{email | hmac}"`, "stored in clear."}},
		"nothing is personal": {strings.NewReplacer("email", "member_id", "@example.com", "").Replace(signups),
			[]string{"-hmac", "-in clear"}},
		"an identifier that some events lack, and one that all have": {made(100, func(i int) string {
			number := ""
			if i%30 != 0 {
				number = fmt.Sprintf(`"number":"N%d",`, i)
			}
			return fmt.Sprintf(`{"type":"invoice.issued",%s"uuid":"u%d","issued_at":"2026-03-01T00:00:%02dZ"}`, number, i, i%60)
		}), []string{`id: "{uuid}"`}},
		"copies that have another time are events of their own": {made(200, func(i int) string {
			return fmt.Sprintf(`{"type":"order.moved","order_number":"N%d","moved_at":"2026-03-01T%02d:%02d:00Z","shelf":"s%d"}`, min(i, 195),
				i/60, i%60, i%3)
		}), []string{`id: "{order_number}#{@at | time}"`}},
		"two types with one owner and time": {made(240, func(i int) string {
			return fmt.Sprintf(`{"type":"%s.opened","sensor_id":"s%d","ts":%d,"value":%d}`, []string{"door", "window"}[i%2], i/2%4,
				1_772_350_000+i/8*60, i)
		}), []string{`sk: "DOOR_OPENED#{@at | time}"`, `sk: "WINDOW_OPENED#{@at | time}"`}},
		"types whose names are one word in keys": {cloud("order.placed", "order-placed", "заказ", "счёт"),
			[]string{`sk: "PLACED"`, `sk: "PLACED_2"`, `sk: "EVENT"`, `"EVENT_2"`}},
		"an id inside, and noise at every depth": {made(1500, func(i int) string {
			n := i - i%40/39 // one in forty is the one before it again
			return fmt.Sprintf(`{"type":"invoice.made","invoice":{"number":"N%d"},"@at":"2026-03-01T00:%02d:00Z","meta":{"trace-id":"t%d"},`+
				`"lines":[{"sku":"a","sent_at":%d},{"sku":"b","sent_at":%d}]}`, n, n%60, i, i, i)
		}), []string{`id: "{invoice.number}"`, `at: "{[\"@at\"]}"`, `ignore: ["lines[].sent_at", meta.trace-id]`}},
		"a type inside envelopes of one type": {made(40, func(i int) string {
			return fmt.Sprintf(`{"version":"0","id":"e-%d","detail-type":"shopifyWebhook","source":"aws.partner",`+
				`"account":"1","time":"2026-03-01T09:00:01Z","region":"r","resources":[],"detail":{"payload":{"id":%d},"metadata":{"Content-Type":"a/b","X-Shopify-Topic":"%s/create"}}}`,
				i, i/2, []string{"orders", "customers"}[i%2])
		}), []string{`type: ["{metadata.X-Shopify-Topic}", "{@type}"]`, `key: {pk: "ORDERS#{payload.id}", sk: "CREATE"}`,
			"likely: payload.id is"}},
		"arrays of events": {made(40, func(i int) string {
			return fmt.Sprintf(`[{"id":"a%d","at":%d},{"id":"b%d","at":"%d"}]`, i, 1_777_000_000+i, i, 1_777_000_000+i)
		}), []string{"batches: true", `id: "{id}"`, `at: "{at | unix}"`}},
		"events that need a value of the object around them": {made(40, func(i int) string {
			return fmt.Sprintf(`{"object":"page","entry":[{"account":"c%d","statuses":[{"id":%d,"status":"sent","timestamp":"%d"},`+
				`{"id":%d,"status":"read","timestamp":"%d"}]}]}`, i%2, i/2*2, 1_777_000_000+i, i/2*2+1, 1_777_000_000+i)
		}), []string{`  - {each: "entry[].statuses", with: {account: "entry[].account"}}`, `account}`}},
		"a field called when": {made(30, func(i int) string {
			return fmt.Sprintf(`{"type":"loan","loan_id":"l%d","when":%d,"size":%d}`, i, 1_777_000_000_000+i, 1_777_000_000_000-i)
		}), []string{`at: "{when | unixms}"`}},
		"patterns, so that a first ingot query works": {made(30, func(i int) string {
			return fmt.Sprintf(`{"type":%q,"trip":{"tripId":"T-%d"},"at":"2026-05-03T00:00:%02d+05:45"}`,
				[]string{"trip.started", "trip.ended", "heartbeat"}[i%3], i, i)
		}), []string{"  trip: {read: [trip.ended, trip.started]}\n", "  heartbeat: {read: [heartbeat]}\n",
			"  days: {total: events_daily}\n"}},
		"numbers in quotes": {quoted, []string{
			"amount: sum number(fare.amount)"}},
		"numbers without quotes": {regexp.MustCompile(`"(\d+\.50)"`).ReplaceAllString(quoted, "$1"),
			[]string{"amount: sum fare.amount"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := proposal(t, c.lines)
			taken(t, p)
			wants(t, p, c.wants...)
		})
	}
}

// Each choice has a comment above it that says how certain it is.
func TestEachChoiceSaysHowCertain(t *testing.T) {
	choices := regexp.MustCompile(`^( *)(type|id|at|key|ignore|# indexes|  [a-z_]+_daily):`)
	certainty := regexp.MustCompile(`^ *# (certain|likely|guess): `)
	readings := `{"device_id":"d1","ts":1772323200,"celsius":1.5}` + "\n" + `{"device_id":"d1","ts":1772323260,"celsius":2.5}` + "\n" +
		`{"device_id":"d2","ts":1772323260,"celsius":2.5}` + "\n"
	for name, lines := range map[string]string{"shop": shop(120), "readings": readings,
		"one": `{"type":"visit","visit_id":"v1","at":"2026-03-01T09:00:00Z"}` + "\n"} {
		p := proposal(t, lines)
		found := 0
		said := ""
		for line := range strings.Lines(string(p.YAML())) {
			line = strings.TrimSuffix(line, "\n")
			switch {
			case choices.MatchString(line):
				found++
				if said == "" {
					t.Errorf("%s: no comment above %q says how certain it is", name, line)
				}
				said = ""
			case certainty.MatchString(line):
				said = line
			case !strings.HasPrefix(strings.TrimSpace(line), "#"):
				said = ""
			}
		}
		if found < 5 {
			t.Errorf("%s: only %d choices found", name, found)
		}
		if t.Failed() {
			t.Logf("%s", p.YAML())
		}
	}
}

// The repository's own sample has each event once, or its tests would fail, and all types have a
// share in it.
func TestBodies(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		order := fmt.Sprintf(
			`{"type":"order.placed","order_id":"o-%d","placed_at":"2026-03-01T09:00:%02dZ","sent_at":"2026-03-02T09:00:%02dZ"}`, i, i, i)
		b.WriteString(order + "\n")
		if i%7 == 0 { // sent again
			b.WriteString(strings.Replace(order, "03-02", "03-03", 1) + "\n")
		}
		if i < 3 {
			fmt.Fprintf(&b, `{"type":"order.paid","payment_id":"p-%d","order_id":"o-%d","paid_at":"2026-03-01T10:00:%02dZ"}`+"\n", i, i, i)
		}
	}
	p := proposal(t, b.String())
	wants(t, p, "ignore: [sent_at]")
	taken(t, p)
	list := p.Bodies(20)
	for i, want := range []string{`"payment_id":"p-0"`, `placed","order_id":"o-0"`, `"payment_id":"p-1"`, `placed","order_id":"o-1"`,
		`"payment_id":"p-2"`, `placed","order_id":"o-2"`, `placed","order_id":"o-3"`} {
		if len(list) != 20 || !strings.Contains(list[i], want) {
			t.Fatalf("%d events; number %d has no %s: %s", len(list), i, want, list[i])
		}
	}
	all := map[string]int{}
	for _, body := range p.Bodies(1000) {
		all[body[:strings.LastIndex(body, "_at")]]++
	}
	for event, n := range all {
		if n > 1 || len(all) != 33 {
			t.Errorf("%d events, and %d times %s", len(all), n, event)
		}
	}
	must.Equal(t, len(p.Bodies(1000)), 33)
}

// A file that does not have one event on each line says how to make one that does.
func TestFilesOfAnotherForm(t *testing.T) {
	for text, want := range map[string]string{
		"[\n {\n  \"a\":1\n }\n]\n": "each line; jq -c '.[]' makes that of an array (line 1: ",
		"{\n \"a\": 1\n}\n":         "each line; jq -c . makes that of JSON over several lines (line 1: ",
		"id,name\n1,orders\n":       "each line (line 1: ",
	} {
		_, err := Read(strings.NewReader(text))
		must.Fail(t, err, want)
	}
}

func TestNothingTellsApart(t *testing.T) {
	p := proposal(t, `{"a":1.5,"when":"soon"}`+"\n"+`{"a":2.5,"when":"soon"}`+"\n")
	if _, poison, err := p.Check(); err != nil || len(poison) != 1 {
		t.Fatalf("an event without a time: %v, %v", poison, err)
	}
	wants(t, p, "# guess: no field tells these events apart", `id: "{@digest}"`, "# MISSING: no field is a time")
}

// If only the producer knows whether events are the same one, changed, the file asks, and leaves
// the id open.
func TestUndecided(t *testing.T) {
	p := proposal(t, made(200, func(i int) string {
		return fmt.Sprintf(`{"type":"booking.made","booking_no":"B%d","at":"2026-03-01T00:00:00Z","cents":%d}`, min(i, 169), i)
	}))
	wants(t, p, `id: "{UNDECIDED}"   # "{booking_no}"`,
		"UNDECIDED: lines 170 and 171 differ in cents alone. Ask the producer: are they one event?")
	if n, unfit, err := p.Check(); err != nil || n != 0 || len(unfit) != 1 {
		t.Errorf("%d events are stored, %v, %v", n, unfit, err)
	}
}

// A field that is different in every event may be an id, or new with each sending. If neither its
// name nor a copy says which, the file asks.
func TestAnIDWithoutTheNameOfOne(t *testing.T) {
	wants(t, proposal(t, made(200, func(i int) string {
		return fmt.Sprintf(`{"type":"meter.read","knot":"t%d","at":%d,"kwh":%d}`, i*7919, 1_777_000_000+i/9, i%40)
	})), `id: "{UNDECIDED}"   # "{knot}"`, "only knot tells these events apart")
}

// Ids that differ in their spelling alone may be one event or two, and the file asks. The id that
// it offers folds them, and stores each event once.
func TestIDsInTwoSpellings(t *testing.T) {
	for _, c := range []struct{ first, again, offered string }{
		{`"usr-%d"`, `" USR-%d"`, "{user_id | strip | lower}"},
		{"%d", `"%d"`, "{user_id | number}"},
		{"%d", `"%d.0"`, "{user_id | number}"},
	} {
		text := made(220, func(i int) string {
			of, id := i, c.first
			if i >= 200 {
				of, id = i-200, c.again
			}
			return fmt.Sprintf(`{"type":"user.signed_up","user_id":`+id+`,"at":%d,"trace_id":%d}`, of, 1_777_000_000+of, i)
		})
		p := proposal(t, text)
		wants(t, p, `id: "{UNDECIDED}"   # "`+c.offered+`"`, "lines 1 and 201 differ in the spelling of user_id. ")
		yaml := strings.Replace(string(p.YAML()), "{UNDECIDED}", c.offered, 1)
		yaml = strings.Replace(yaml, "# ignore: [trace_id]", "ignore: [trace_id]", 1) // what it says to ignore
		f := textfile.File{Name: "pipeline.yaml", Text: []byte(yaml)}
		loaded, err := f.Load()
		must.Succeed(t, err)
		ids := map[string]bool{}
		for _, line := range strings.Split(strings.TrimSpace(text), "\n") {
			item, err := loaded.Plan(envelope.Message{Body: line})
			must.Succeed(t, err)
			ids[fmt.Sprint(item.Key, item.ID, item.Digest)] = true
		}
		must.Equal(t, len(ids), 200)
	}
}

// Two different events under one key are no broken ones, however few they are: the file asks.
func TestFewConflicts(t *testing.T) {
	p := proposal(t, made(200, func(i int) string {
		id := fmt.Sprint(i)
		if i == 199 {
			id = "0.0"
		}
		return fmt.Sprintf(`{"type":"user.signed_up","user_id":%s,"at":1777000000,"plan":%d}`, id, i)
	}))
	if _, unfit, err := p.Check(); err != nil || len(p.Aside()) > 0 || len(unfit) != 1 {
		t.Errorf("%v, %v, %v", unfit, p.Aside(), err)
	}
}

// Equal events in objects that differ may be one event in two groupings, or two events.
func TestEqualEventsInObjectsThatDiffer(t *testing.T) {
	p := proposal(t, made(60, func(i int) string {
		return fmt.Sprintf(`{"feed":[{"owner":"A%d","posts":[{"id":%d,"at":%d}]}]}`, i%3, i/3, 1_777_000_000+i/3)
	}))
	wants(t, p, `- {each: "feed[].posts"}`[2:], `id: "{UNDECIDED}"   # "{id}"`, "equal events are in objects with another feed[].owner. ")
}

// A time that Ingot cannot read is named, and it does not tell events apart.
func TestTimesOfAnotherForm(t *testing.T) {
	for _, form := range []string{"01.03.2026 09:%02d", "3/1/2026 9:%02d"} {
		p := proposal(t, made(10, func(i int) string {
			return fmt.Sprintf(`{"type":"signup","created_at":%q,"user_id":"u%d"}`, fmt.Sprintf(form, i), i)
		}))
		wants(t, p, `id: "{user_id}"`, "# MISSING: created_at looks like a time, but Ingot does not read its form.")
		if _, poison, err := p.Check(); err != nil || len(poison) != 1 {
			t.Errorf("%s: %v, %v", form, poison, err)
		}
	}
	wants(t, proposal(t, `{"type":"signup","user_id":"u1","version":"2026-03"}`+"\n"), "# MISSING: no field is a time")
}

func TestUnusableLines(t *testing.T) {
	s, err := Read(strings.NewReader("\ufeff{\"a\":1}\n\nnope\n[1]\n{\"a\":1}\n"))
	must.Succeed(t, err)
	if n, first := s.Unusable(); n != 2 || len(first) != 2 || !strings.HasPrefix(first[0], "line 3: ") ||
		!strings.HasPrefix(first[1], "line 4: ") {
		t.Errorf("%d unusable lines: %q", n, first)
	}
	if len(s.events) != 1 || s.repeated != 1 {
		t.Errorf("%d events, %d repeated", len(s.events), s.repeated)
	}
	_, err = Read(strings.NewReader("nope\n"))
	must.Fail(t, err, "line 1: ")
	_, err = Read(strings.NewReader(strings.Repeat("x", ndjson.MaxLine+1)))
	must.Fail(t, err, "line 1: it is longer than")
}

// Events that are broken do not spoil the proposal for the others. They are what quarantine is for.
// If some are altered, the file asks.
func TestBrokenEventsAreSetAside(t *testing.T) {
	lines := func(altered string) string {
		return made(200, func(i int) string {
			at, number := fmt.Sprintf("%q", fmt.Sprintf("2026-03-01T00:%02d:%02dZ", i/60, i%60)), fmt.Sprintf(`"number":"N%d",`, i)
			switch i {
			case 70:
				at = `"yesterday"`
			case 80:
				at = "null"
			case 90:
				number = ""
			}
			line := fmt.Sprintf(`{"type":"invoice.issued",%s"issued_at":%s,"currency":"EUR","total_cents":%d}`, number, at, i%50)
			if i%50 == 0 {
				line += "\n" + strings.Replace(line, "EUR", altered, 1)
			}
			return line
		})
	}
	p := proposal(t, lines("EUR"))
	planned, poison, err := p.Check()
	if err != nil || planned != 197 || len(poison) > 0 || len(p.Aside()) != 3 {
		t.Errorf("planned %d, poison %v, aside %v, %v", planned, poison, p.Aside(), err)
	}
	wants(t, p, `id: "{number}"`, `at: "{issued_at}"`, `key: {pk: "INVOICE#{number}", sk: "ISSUED"}`,
		"{values: {events: count, total_cents: sum total_cents}}")
	must.Equal(t, len(p.Bodies(1000)), 197)
	wants(t, proposal(t, lines("CHF")), "# UNDECIDED: lines 1 and 2 differ in currency alone. ", `id: "{UNDECIDED}"   # "{number}"`)
}

// An object in place of an identifier is as wrong as none.
func TestObjectsAreNoIdentifiers(t *testing.T) {
	p := proposal(t, made(100, func(i int) string {
		id := fmt.Sprintf(`"o%d"`, i)
		if i == 7 {
			id = `{"number":7}`
		}
		return fmt.Sprintf(`{"type":"order.placed","order_id":%s,"at":"2026-03-01T00:00:00Z"}`, id)
	}))
	wants(t, p, `id: "{order_id}"`)
	if planned, poison, err := p.Check(); err != nil || planned != 99 || len(poison) > 0 {
		t.Errorf("planned %d, poison %v, %v", planned, poison, err)
	}
}

// A few events say nothing about what is usual.
func TestFewEventsAreNotSetAside(t *testing.T) {
	p := proposal(t, `{"type":"visit","visit_id":"v1","at":"2026-03-01T09:00:00Z"}`+"\n"+`{"type":"visit","visit_id":"v2","at":"soon"}`+
		"\n")
	wants(t, p, "# MISSING: no field is a time")
}

// TestRandomSamples makes samples of any shape. What is proposed must compile, and must accept
// every event that has a time.
func TestRandomSamples(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if text := os.Getenv("PROPOSE_SEED"); text != "" {
		_, err := fmt.Sscan(text, &seed)
		must.Succeed(t, err)
	}
	t.Logf("PROPOSE_SEED=%d go test -run TestRandomSamples ./internal/tool/propose", seed)
	die := rand.New(rand.NewPCG(seed, 1))
	for range 300 {
		lines := randomSample(die)
		s, err := Read(strings.NewReader(lines))
		if err != nil {
			t.Fatalf("%v\n%s", err, lines)
		}
		p := s.Proposal()
		_, poison, err := p.Check()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, lines, p.YAML())
		}
		for why := range poison {
			if !strings.HasPrefix(why, "at: the message has no envelope") && !strings.Contains(why, "Ask the producer: ") {
				t.Fatalf("an event would be Poison: %s\n%s\n%s", why, lines, p.YAML())
			}
		}
	}
}

func randomSample(die *rand.Rand) string {
	names := []string{"id", "type", "order_id", "orderId", "at", "ts", "email", "total", "amount", "n", "fp", "a b", "user", "currency",
		"sent_at", "kind", "x#y", "size_bytes"}
	kinds := []func() string{
		func() string { return fmt.Sprint(die.IntN(5)) },
		func() string { return fmt.Sprint(die.IntN(1 << 40)) },
		func() string { return fmt.Sprint(1_700_000_000 + die.IntN(10_000)) },
		func() string { return fmt.Sprintf("%d.%d", die.IntN(100), die.IntN(1<<40)) },
		func() string { return fmt.Sprintf("%de%d", die.IntN(100), die.IntN(40)) },
		func() string { return fmt.Sprintf("%q", fmt.Sprint("v", die.IntN(3))) },
		func() string { return fmt.Sprintf("%q", fmt.Sprint("v", die.IntN(1<<30))) },
		func() string {
			return fmt.Sprintf("%q", time.Unix(int64(die.IntN(1<<31)), 0).UTC().Format(time.RFC3339))
		},
		func() string { return `"a#b%c\u0001é"` },
		func() string { return `""` },
		func() string { return "null" },
		func() string { return "true" },
		func() string { return `[1,2]` },
		func() string { return fmt.Sprintf(`{"id":%d,"name":"n"}`, die.IntN(50)) },
	}
	width := 1 + die.IntN(8)
	order := die.Perm(len(names))[:width]
	of := make([]int, width)
	for i := range of {
		of[i] = die.IntN(len(kinds))
	}
	var b strings.Builder
	for range 1 + die.IntN(40) {
		b.WriteByte('{')
		comma := ""
		for i, name := range order {
			if die.IntN(20) == 0 {
				continue
			}
			kind := of[i]
			if die.IntN(30) == 0 {
				kind = die.IntN(len(kinds))
			}
			fmt.Fprintf(&b, "%s%q:%s", comma, names[name], kinds[kind]())
			comma = ","
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// Values of fields that look personal are replaced, wherever they are. Equal values stay equal, and
// everything else stays as it is.
func TestMasked(t *testing.T) {
	const at = `"id":"a","type":"x","at":"2026-03-01T09:00:00Z"`
	for body, want := range map[string]string{
		`{` + at + `,"user_name":"Ann","product_name":"Tea"}`: `{` + at +
			`,"user_name":"user_name-1","product_name":"Tea"}`,
		`{` + at + `,"patient_id":"p7","device":{"id":"d1"},"driver":{"id":9}}`: `{` + at +
			`,"patient_id":"patient_id-1","device":{"id":"d1"},"driver":{"id":1}}`,
		`{` + at + `,"n":1.50,"list":[{"driver":{"name":"Ann"}},{"driver":null}]}`: `{` + at +
			`,"n":1.50,"list":[{"driver":{"name":"name-1"}},{"driver":null}]}`,
		`{` + at + `,"to":"a@b.de","cc":["a@b.de","c@d.de"],"from":"a@b.de"}`: `{` + at +
			`,"to":"person-1@example.com","cc":["person-1@example.com","person-2@example.com"],"from":"person-1@example.com"}`,
		`{` + at + `,"note":"call <a@b.de>, or c@d.de","card":"4111 1111 1111 1111","handle":"@ann, 5 @ 3.50"}`: `{` + at +
			`,"note":"note-1","card":"card-1","handle":"@ann, 5 @ 3.50"}`,
		`{` + at + `,"address":{"city":"Rome","geo":{"lat":1.5,"fine":true}}}`: `{` + at +
			`,"address":{"city":"city-1","geo":{"lat":1,"fine":true}}}`,
		`{` + at + `,"born":"1970-05-06","birth_time":"1970-05-06T01:02:03+02:00"}`: `{` + at +
			`,"born":"2000-01-01","birth_time":"2000-01-01T00:00:00Z"}`,
		`{` + at + `,"phone":491234,"odd \"name\"":"<x>"}`: `{` + at + `,"phone":1,"odd \"name\"":"<x>"}`,
		`{"Type":"Notification","Message":"{\"ssn\":\"1-2\",\"k\":1}","` +
			`x":"{no"}`: `{"Type":"Notification","Message":"{\"ssn\":\"ssn-1\",\"k\":1}","x":"{no"}`,
	} {
		m := masker{made: map[string]string{}, count: map[string]int{}}
		must.Equal(t, m.document(body), want, body)
	}
}

// One envelope that lacks a member spoils nothing. The id of the envelope is better than two fields
// that only happen to be different together.
func TestABrokenEnvelopeAmongMany(t *testing.T) {
	var b strings.Builder
	for i := range 60 {
		id := fmt.Sprintf(`"id":"ev-%d",`, i)
		if i == 30 {
			id = ""
		}
		fmt.Fprintf(&b,
			`{"specversion":"1.0",%s"source":"//ward","type":"reading","time":"2026-07-01T03:00:%02dZ","data":{"serial":"SN-%d","battery":"%d%%"}}`+"\n", id, i, i%6, i%50)
	}
	p := proposal(t, b.String())
	n, poison, err := p.Check()
	if err != nil || n != 59 || len(poison) > 0 || len(p.Aside()) != 1 {
		t.Errorf("%d planned, poison %v, aside %v, %v", n, poison, p.Aside(), err)
	}
	if bytes.Contains(p.YAML(), []byte("\ntype:")) {
		t.Errorf("no payload is bare, and it has a type:\n%s", p.YAML())
	}
	wants(t, p, "The id is the envelope's.", "The time is the envelope's.")
}

// Where the time is a part of the id, so is what the event is of, also if all times of the sample
// differ. The type says that of no event.
func TestTimeWithTheOwner(t *testing.T) {
	var lines []string
	for i := range 120 {
		lines = append(lines, fmt.Sprintf(`{"type":"door.opened","owner":"o%d","time":"2026-03-01T%02d:%02d:00Z"}`, i%7, i/60, i%60))
	}
	yaml := string(proposal(t, strings.Join(lines, "\n")).YAML())
	if want := `id: "{owner}#{@at | time}"`; !strings.Contains(yaml, want) {
		t.Errorf("no %s in\n%s", want, yaml)
	}
}

// What a delivery says of itself is in no id, though it has the name of one and differs in each
// message: in another grouping, an event would be another one. So Xero sends, and Okta with a
// time that sending might set.
func TestNumbersOfADelivery(t *testing.T) {
	xero := made(60, func(i int) string {
		return fmt.Sprintf(`{"events":[{"resourceId":"r%d","eventDateUtc":"2026-03-01T00:%02d:%02d.902","eventType":"UPDATE",`+
			`"eventCategory":"INVOICE","tenantId":"t"}],"firstEventSequence":%d,"lastEventSequence":%d,"entropy":"S%d"}`,
			i%20, i/60, i%60, i, i, i*7919)
	})
	p := proposal(t, xero)
	wants(t, p, `{each: "events"}`, `id: "{resourceId}#{@at | time}"`)
	if n, unfit, err := p.Check(); err != nil || n != 60 || len(unfit) != 0 {
		t.Errorf("%d events are stored, %v, %v", n, unfit, err)
	}
	okta := made(60, func(i int) string {
		return fmt.Sprintf(`{"eventType":"com.okta.event_hook","source":"https://a.example","eventId":"h%d","data":{"events":[{"uuid":"u%d",`+
			`"published":"2026-03-01T00:%02d:00.777Z","eventType":"user.lifecycle.create"},{"uuid":"v%d",`+
			`"published":"2026-03-01T00:%02d:01.777Z","eventType":"user.lifecycle.create"}]},"eventTime":"2026-03-01T01:00:00Z"}`,
			i, i, i, i, i)
	})
	wants(t, proposal(t, okta), `{each: "data.events"}`, `id: "{uuid}"`, `at: "{published}"`)
}
