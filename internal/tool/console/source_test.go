package console

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/verify"
)

// tablesOf are the tables of a shop, as a stack's are read.
func resourcesOf(d *dev.Dev) Resources {
	at := d.Local()
	return Resources{Name: "shop", DynamoDB: d.Engine().DynamoDB(), SQS: d.Engine().SQS(), Events: at.EventsTable,
		Aggregates: at.AggregatesTable,
		QueueURL:   at.QueueURL, QuarantineURL: at.QuarantineURL, DeadLettersURL: at.DeadLetterURL, Pipeline: d.Pipeline, Now: d.Now}
}

// story is a journey in words: each step with its state and what it says.
func story(j *Journey) map[string]string {
	all := map[string]string{}
	for _, s := range j.Steps {
		text := s.State + "\n" + s.Cost + "\n" + s.Code + "\n"
		for _, f := range s.Facts {
			text += f.Name + ": " + f.Text + "\n"
		}
		if s.Table != nil {
			for _, row := range s.Table.Rows {
				text += strings.Join(row, " | ") + "\n"
			}
		}
		all[s.Name] = text
	}
	return all
}

// TestJourneyOnAStack asks what a stack knows of an event, and what would become of messages that
// were never sent.
func TestJourneyOnAStack(t *testing.T) {
	d := shop(t)
	mustSend(t, d, order(1, 100))
	until(t, d, 1, 1)
	s := &Remote{Resources: resourcesOf(d)}
	usage := d.Engine().Usage()
	for _, tt := range []struct {
		name string
		ask  Question
		want map[string][]string // what a step must say; "-" in front: must not
	}{
		{"by its key", Question{PK: "ORDER#o-0001", SK: "PLACED"}, map[string][]string{
			"message": {"unknown"}, "item": {"done", "o-0001", "write units", "-anna1@", `"***"`},
			"totals": {"orders_daily", "count orders 1", "revenue 100"}, "again": {"Duplicate"}}},
		{"the same message", Question{Message: order(1, 100)}, map[string][]string{"event": {"done", "-anna1@"}, "item": {"done"},
			"again": {"verdict: Duplicate", "Nothing would change"}}},
		{"another payload", Question{Message: order(1, 200)},
			map[string][]string{"item": {"done"}, "again": {"verdict: Conflict", "quarantine"}}},
		{"another event", Question{Message: order(2, 200)},
			map[string][]string{"item": {"none"}, "again": {"verdict: Inserted", "stored and counted"}}},
		{"long past", Question{Message: strings.Replace(order(3, 1), `"placed_at":"2026`, `"placed_at":"2001`, 1)},
			map[string][]string{"again": {"verdict: Expired"}}},
		{"no JSON", Question{Message: `{"type":`}, map[string][]string{"event": {"refused", "Poison"}, "again": {"refused", "Poison"}}},
		{"by its type", Question{Type: "order.placed", Fields: map[string]string{"order_id": "o-0001"}}, map[string][]string{
			"item": {"done", "o-0001"}, "totals": {"2026-02", "newest last paid", "newest mail ***", "distinct buyers one value",
				"buyers about 1 ±1.6 %", "-anna1@"}, "again": {"Duplicate"}}},
		{"nothing there", Question{PK: "ORDER#o-9", SK: "PLACED"}, map[string][]string{"item": {"none"}, "again": {"unknown"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j, err := s.Journey(t.Context(), tt.ask)
			must.Succeed(t, err)
			got := story(j)
			for step, says := range tt.want {
				for _, text := range says {
					unwanted, not := strings.CutPrefix(text, "-")
					if not == strings.Contains(got[step], unwanted) {
						t.Errorf("%s, about %q, says\n%s", step, text, got[step])
					}
				}
			}
		})
	}
	for name, q := range map[string]Question{"half a key": {PK: "ORDER#o-0001"}, "a type alone": {Type: "order.placed"},
		"no type":       {Type: "order.payed", Fields: map[string]string{"order_id": "o-1"}},
		"no field":      {Type: "order.placed", Fields: map[string]string{"a[0]": "x"}},
		"a field twice": {Type: "order.placed", Fields: map[string]string{"a": "x", "a.b": "y"}}} {
		if _, err := s.Journey(t.Context(), q); !isMistake(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Reveal = true
	j, err := s.Journey(t.Context(), Question{PK: "ORDER#o-0001", SK: "PLACED"})
	if err != nil || !strings.Contains(story(j)["item"]+story(j)["totals"], "anna1@example.com") {
		t.Errorf("with --reveal: %+v, %v", j, err)
	}
	if used := d.Engine().Usage().Sub(usage); used.WriteUnits() != 0 || used.Requests["PutItem"] != 0 {
		t.Errorf("looking wrote %v units: %v", used.WriteUnits(), used.Requests)
	}
}

// From an order one follows its lines, and back. Totals that move with the put say what their
// floors are.
func TestJourneyOfParts(t *testing.T) {
	d := devOf(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  order: {id: "{order}", at: "{at}", key: {pk: "ORDER#{order}", sk: "ORDER"}}
  line:
    part: {of: order, each: lines, with: [order]}
    id: "{order}#{line}"
    key: {pk: "ORDER#{order}", sk: "LINE#{line}"}
  box: {id: "{box}", at: "{at}", key: {pk: "BOX#{box}", sk: "{color}"}}
  lid: {part: {of: box, with: [box]}, id: "{box}", key: {pk: "BOX#{box}", sk: "LID"}}
  goods: {id: "{id}", at: "{at}", key: {pk: "GOODS#{id}", sk: "X"}}
aggregates:
  stock:
    since: 1
    by: {sku: "{sku}"}
    movedBy: put
    atLeast: {available: -1}
    from: {line: {values: {available: sum -pieces}}, goods: {values: {available: sum pieces}}}
`)
	const at = `"at":"2026-03-01T09:00:00Z"`
	mustSend(t, d, `{"type":"goods","id":"1","sku":"a","pieces":3,`+at+`}`)
	until(t, d, 1, 1)
	mustSend(t, d, `{"type":"box","box":"1","color":"red",`+at+`}`, `{"type":"order","order":"1",`+at+
		`,"lines":[{"line":1,"sku":"a","pieces":2},{"line":2,"sku":"a","pieces":2},{"line":3,"sku":"b","pieces":9}]}`)
	until(t, d, 3, 6) // all but the third line, which would bring its total below the floor
	s := &Remote{Resources: resourcesOf(d)}
	about, err := s.About(t.Context())
	if err != nil || len(about.Aggregates) != 1 || !about.Aggregates[0].ByPut ||
		!reflect.DeepEqual(about.Aggregates[0].Values, []Value{{"available", "sum", []string{"below its floor of -1"}}}) {
		t.Errorf("%+v, %v", about, err)
	}
	follow := func(q Question) (map[string]string, map[string]*FactTable) {
		t.Helper()
		j, err := s.Journey(t.Context(), q)
		must.Succeed(t, err)
		found := map[string]*FactTable{}
		for _, step := range j.Steps {
			found[step.Name] = step.Table
		}
		return story(j), found
	}
	says, found := follow(Question{PK: "ORDER#1", SK: "ORDER"})
	want := "line | ORDER#1 | LINE#1 | stored\nline | ORDER#1 | LINE#2 | stored\nline | ORDER#1 | LINE#3 | not stored\n"
	if !strings.Contains(says["parts"], want) || !strings.HasPrefix(says["parts"], "none\n") || says["whole"] != "" ||
		len(found["parts"].Keys) != 3 {
		t.Fatalf("the order says\n%s", says["parts"])
	}
	line := found["parts"].Keys[1]
	says, found = follow(Question{PK: line[0], SK: line[1]})
	if !strings.Contains(says["whole"], "order | ORDER#1 | ORDER | stored\n") || found["whole"].Keys[0] != [2]string{"ORDER#1", "ORDER"} ||
		says["parts"] != "" {
		t.Errorf("the line says\n%s", says["whole"])
	}
	must.Say(t, says["totals"], "stock: No event can bring available below its floor of -1: an event that would is Rejected.", "available -1")
	says, _ = follow(Question{PK: "BOX#1", SK: "LID"})
	must.Say(t, says["whole"], "It does not hold all fields of that event's key.")
	says, _ = follow(Question{Message: `{"type":"order","order":"2",` + at + `,"lines":[{"line":1,"sku":"a","pieces":1}]}`})
	must.Say(t, says["again"],
		"verdict: Rejected\nreason: below-floor\nbecause: stock of sku=\"a\": available is -1", "It would go to quarantine")
	says, _ = follow(Question{Message: `{"type":"goods","id":"2","sku":"a","pieces":3,` + at + `}`})
	must.Say(t, says["totals"], "2 write units in the transaction that puts the item")
}

func isMistake(err error) bool {
	var m *mistake
	return errors.As(err, &m)
}

// TestTotalsOnAStack shows that a whole table is read only after its price was seen.
func TestTotalsOnAStack(t *testing.T) {
	d := shop(t)
	mustSend(t, d, order(1, 100), order(2, 250), order(14, 1))
	until(t, d, 3, 3)
	s := &Remote{Resources: resourcesOf(d)}
	before := d.Engine().Usage()
	got, err := s.Totals(t.Context(), Choice{Aggregate: "orders_daily", Value: "revenue"})
	if err != nil || got.Price == "" || got.Groups != nil {
		t.Errorf("%+v, %v", got, err)
	}
	must.Equal(t, d.Engine().Usage().Sub(before).Requests["Scan"], 0)
	got, err = s.Totals(t.Context(), Choice{Aggregate: "orders_daily", Value: "revenue", Scan: true})
	if err != nil || len(got.Groups) == 0 || got.Price != "" {
		t.Fatalf("%+v, %v", got, err)
	}
	first := got.Groups[0]
	got, err = s.Totals(t.Context(),
		Choice{Aggregate: "orders_daily", By: map[string]string{"currency": first.By[0], "merchant": first.By[1]}})
	if err != nil || len(got.Windows) != first.Windows || got.Windows[0].Start == nil {
		t.Errorf("%+v has %+v, %v", first, got, err)
	}
	for _, c := range []Choice{{Aggregate: "nothing"}, {Aggregate: "orders_daily", By: map[string]string{"merchant": "x"}}} {
		if _, err := s.Totals(t.Context(), c); !isMistake(err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestResendOnAStack sends a message again. Its letter is gone and the queue has it; one that is
// not there is said not to be.
func TestResendOnAStack(t *testing.T) {
	d := shop(t)
	mustSend(t, d, order(1, 100), order(1, 200))
	until(t, d, 2, 1)
	s := &Remote{Resources: resourcesOf(d)}
	q, err := s.Quarantine(t.Context())
	if err != nil || len(q.Letters) != 1 || q.Groups[0].Verdict != "Conflict" {
		t.Fatalf("%+v, %v", q, err)
	}
	l, err := s.Letter(t.Context(), q.Letters[0].ID)
	if err != nil || len(l.Report.Differences) != 1 ||
		l.Report.Differences[0] != (quarantine.ShownDifference{Path: "cents", Stored: "100", Message: "200"}) || l.Report.Stored == nil ||
		strings.Contains(l.Report.Body+l.Report.Stored.Data, "anna1@") || !strings.HasPrefix(l.Today, "Conflict") {
		t.Errorf("%+v, %v", l, err)
	}
	if said, err := s.Resend(t.Context(), l.ID); err != nil || !strings.Contains(said, "deleted from quarantine") {
		t.Errorf("%s, %v", said, err)
	}
	until(t, d, 3, 1) // it came to the ingest function once more
	if _, err := s.Resend(t.Context(), l.ID); !isMistake(err) {
		t.Errorf("a second time: %v", err)
	}
}

// metrics are a CloudWatch in which each metric has one datum, two minutes before the end.
type metrics struct{ polls int }

func (m *metrics) GetMetricData(_ context.Context, in *cloudwatch.GetMetricDataInput,
	_ ...func(*cloudwatch.Options)) (*cloudwatch.GetMetricDataOutput, error) {
	m.polls++
	if m.polls == 3 {
		return nil, errors.New("AccessDenied")
	}
	out := &cloudwatch.GetMetricDataOutput{}
	for _, q := range in.MetricDataQueries {
		value := float64(len(*q.MetricStat.Metric.MetricName))
		out.MetricDataResults = append(out.MetricDataResults,
			types.MetricDataResult{Id: q.Id, Timestamps: []time.Time{in.EndTime.Add(-2 * time.Minute)}, Values: []float64{value}})
	}
	return out, nil
}

// TestStackPollsOnceAMinute shows what a stack's flow is made of, and how often it is asked for.
func TestStackPollsOnceAMinute(t *testing.T) {
	d := shop(t)
	now := must.Time("2026-03-01T12:00:30Z")
	m := &metrics{}
	s := &Remote{Resources: resourcesOf(d), CloudWatch: m, IngestFunction: "in", StreamsFunction: "st"}
	s.Now = func() time.Time { return now }
	for range 5 {
		f, err := s.Flow(t.Context())
		if err != nil || f.Step != 60 || f.Poll != 60 || len(f.At) != 60 || !f.AsOf.Equal(must.Time("2026-03-01T11:59:00Z")) ||
			f.Missing != "" {
			t.Fatalf("%+v, %v", f, err)
		}
		if got := f.Series["received"][58]; got != float64(len("EventsReceived")) || f.Series["received"][59] != 0 || f.Lag == nil ||
			*f.Lag != float64(len("IteratorLagMs"))/1000 {
			t.Errorf("received %v, lag %v", f.Series["received"], aws.ToFloat64(f.Lag))
		}
		now = now.Add(11 * time.Second)
	}
	must.Equal(t, m.polls, 1)
	for _, want := range []int{2, 3} {
		now = now.Add(time.Minute)
		f, err := s.Flow(t.Context())
		if err != nil || m.polls != want || strings.Contains(f.Missing, "AccessDenied") != (want == 3) {
			t.Errorf("poll %d of %d: %+v, %v", m.polls, want, f.Missing, err)
		}
	}
}

// TestFeedOfAnArray shows that each event of an array has a journey of its own, by the message that
// it would be alone.
func TestFeedOfAnArray(t *testing.T) {
	f := NewFeed(func() time.Time { return time.Unix(1_700_000_000, 0) })
	m := &events.SQSMessage{MessageId: "m", Body: `[{"a": 1} , 7, {"a": 2}]`}
	one, two := event.Key{PK: "1", SK: "-"}, event.Key{PK: "2", SK: "-"}
	f.Result(t.Context(),
		handler.Outcome{Message: m, Verdict: event.Poison, Refusal: event.Poisoned(event.NotAnObject, ""), Events: []handler.Outcome{
			{Message: m, Item: &event.Item{Type: "t", Key: one}, Verdict: event.Inserted},
			{Message: m, Verdict: event.Poison, Refusal: event.Poisoned(event.NotAnObject, "")},
			{Message: m, Item: &event.Item{Type: "t", Key: two}, Verdict: event.Duplicate}}})
	must.Equal(t, len(f.flow().Recent), 3)
	for key, body := range map[event.Key]string{one: `{"a": 1}`, two: `{"a": 2}`} {
		past := f.find(key)
		if past == nil || past.body != body || !past.whole || len(past.deliveries) != 1 || past.deliveries[0].message != "m" {
			t.Errorf("%s: %+v", key.PK, past)
		}
	}
}

// TestFeedIsBounded shows that what a feed keeps does not grow with the events.
func TestFeedIsBounded(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	f := NewFeed(func() time.Time { return now })
	for n := range 3 * feedTraces {
		item := &event.Item{Type: "t", Key: event.Key{PK: fmt.Sprint(n), SK: "-"}}
		for range 3 {
			f.Result(t.Context(), handler.Outcome{Item: item, Verdict: event.Inserted})
		}
		r := handler.IngestReport{Received: 3}
		r.Verdicts[event.Inserted] = 3
		f.Ingested(t.Context(), r)
		now = now.Add(100 * time.Millisecond)
	}
	for range 2 * feedDelivered {
		f.Result(t.Context(), handler.Outcome{Item: &event.Item{Key: event.Key{PK: "x", SK: "-"}}, Verdict: event.Duplicate})
	}
	out := f.flow()
	if len(f.traces) != feedTraces || f.order.Len() != feedTraces || len(out.Recent) != feedRecent || len(out.At) != feedSeconds-1 ||
		len(f.find(event.Key{PK: "x", SK: "-"}).deliveries) != feedDelivered {
		t.Errorf("%d traces, %d recent, %d points", len(f.traces), len(out.Recent), len(out.At))
	}
	for i, n := range out.Series["received"] {
		if n != 30 {
			t.Errorf("%v messages in second %d, want 30", n, i)
			break
		}
	}
	if f.find(event.Key{PK: "1", SK: "-"}) != nil {
		t.Error("the event that has been quiet for longest is still there")
	}
}

// TestFieldsOfAKey shows which fields the page asks for, and that numbers are numbers.
func TestFieldsOfAKey(t *testing.T) {
	p := written.Pipeline(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  a: {id: "{n}#{who.name}", at: "{seen | unix}", key: {pk: "A#{@id}", sk: "{@at | day}"}}
  b: {id: "{@digest}", at: "{t}", key: {pk: "B", sk: "{list[0]}#{@id}"}}
`, pipeline.CheckOnly())
	spec := p.Describe().Spec
	must.Equal(t, strings.Join(keyFields(spec.Events["a"]), " "), "n who.name seen")
	must.Equal(t, strings.Join(keyFields(spec.Events["b"]), " "), "list[0]")
	if key, err := keyOf(p, Question{Type: "b", Fields: map[string]string{"list[0]": "x"}}); err != nil || key.SK[:2] != "x#" {
		t.Errorf("%v, %v", key, err)
	}
	key, err := keyOf(p, Question{Type: "a", Fields: map[string]string{"n": "7", "who.name": "jo", "seen": "1772355600"}})
	if err != nil || key.PK != "A#7%23jo" || key.SK != "2026-03-01" {
		t.Errorf("%v, %v", key, err)
	}
}

// TestQueueRequests shows what SQS would bill for messages after they were sent.
func TestQueueRequests(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	f := NewFeed(func() time.Time { return now })
	small, large := &events.SQSMessage{Body: "{}"}, &events.SQSMessage{Body: strings.Repeat("x", 3*chunk)}
	for _, tt := range []struct {
		o    handler.Outcome
		want float64
	}{
		{handler.Outcome{Message: small, Verdict: event.Inserted}, 0.2},            // a tenth each to receive and to delete it
		{handler.Outcome{Message: small, Verdict: event.Retry, Failed: true}, 0.1}, // it is not deleted
		{handler.Outcome{Message: small, Verdict: event.Conflict}, 1.2},            // it is sent to quarantine
		{handler.Outcome{Message: large, Verdict: event.Duplicate}, 3.1},           // one for each 64 KB
	} {
		now = now.Add(time.Second)
		f.Result(t.Context(), tt.o)
		if got := f.second(now).sums[sumQueueRequests]; got < tt.want-1e-9 || got > tt.want+1e-9 {
			t.Errorf("%v of %d bytes: %v requests, want %v", tt.o.Verdict, len(tt.o.Message.Body), got, tt.want)
		}
	}
}

// What verify finds is shown without the values of by and those that single events have supplied.
func TestFindingsHideWhatIsPersonal(t *testing.T) {
	p := written.Pipeline(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  seen: {id: "{id}", at: "{at}", key: {pk: "SEEN#{id}", sk: "-"}, indexes: {GSI1: {pk: "M#{mail | hmac}", sk: "{@at}"}}}
aggregates:
  mails: {since: 1, by: {mail: "{mail}"}, from: {seen: {values: {seen: count, last: newest mail}}}}
`, pipeline.CheckOnly())
	def, _ := p.Definition("mails")
	report := &verify.Report{Unreadable: []string{"item SEEN#ann: odd"},
		Flagged: []string{"mails since 1 by mail=ann: flag", "head of ann: flag"}, Differences: []verify.Difference{
			{Total: "mails mail=ann", Def: def, By: map[string]string{"mail": "ann"}, What: "seen", Has: "1", Wants: "2"},
			{Total: "mails mail=ann", Def: def, By: map[string]string{"mail": "ann"}, What: "last", Has: "ann", Wants: "annie"}}}
	want := []string{"mails since 1 mail=***: seen is 1, and its items add up to 2",
		"mails since 1 mail=***: last is ***, and its items add up to ***",
		"unreadable: ***", "flagged: mails since 1: ***", "flagged: ***"}
	must.Match(t, findings(report, show.PersonalOf(p)), want)
	must.Equal(t, strings.Count(strings.Join(findings(report, show.Personal{}), "\n"), "ann"), 7)
}
