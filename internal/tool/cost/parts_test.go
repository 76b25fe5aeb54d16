package cost

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

const withLines = `
ingot: 1
epoch: 1
type: "{type}"
events:
  order:
    id: "{order}"
    at: "{at}"
    key: {pk: "ORDER#{order}", sk: "ORDER"}
  line:
    part: {of: order, each: lines, with: [order]}
    id: "{order}#{line}"
    key: {pk: "ORDER#{order}", sk: "LINE#{line}"}
    indexes:
      GSI1: {pk: "SKU#{sku}", sk: "{@at}"}
aggregates:
  sold:
    since: 1
    onExpire: subtract
    by: {sku: "{sku}"}
    from:
      line: {values: {sold: count}}
`

func lines(n, each int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"type":"order","order":"o-%d","at":"2026-03-14T09:00:00Z","lines":[`, i)
		for l := range each {
			if l > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"line":%d,"sku":"s-%d"}`, l, l)
		}
		b.WriteString("]}\n")
	}
	return b.String()
}

// Parts cost what items of their own cost. How many there are is taken from the sample, or
// supposed.
func TestPartsAreItems(t *testing.T) {
	in := input(t, withLines)
	near := func(r *Report, part, counted string, want float64) {
		t.Helper()
		if got := of(r, part, counted); math.Abs(got-want) > want/1e6 {
			t.Errorf("%v %s of %s a million, want %v", got, counted, part, want)
		}
	}
	const million = 1e6
	for _, each := range []int{0, 1, 10} {
		sample := computed(t, in, lines(50, each))
		supposed, err := Suppose(in, each)
		must.Succeed(t, err)
		for _, r := range []*Report{sample, supposed} {
			near(r, "puts", "write units", million*float64(1+each))
			near(r, "indexes", "write units", million*float64(each))
		}
		must.Equal(t, sample.Events.Parts, float64(each), each)
		near(supposed, "totals", "write units", million*float64(each))
		must.Equal(t, supposed.Events.Type, "order")
	}
	twice := in
	twice.Duplicates = 1
	near(computed(t, twice, lines(50, 10)), "repetitions", "write units", million*11)
	same := computed(t, in, lines(50, 10)+lines(50, 10))
	near(same, "repetitions", "write units", million*11/2)
	var text strings.Builder
	if same.WriteText(&text); !strings.Contains(text.String(), "each event also yields 10 parts") {
		t.Errorf("%s", &text)
	}
}

// An array of events is one message for SQS, and each of its events is an item.
func TestArraysAreOneMessage(t *testing.T) {
	in := input(t, "ingot: 1\nepoch: 1\nbatches: true\ntype: e\nevents:\n  e: {id: \"{id}\", at: \"{at}\", key: {pk: \"E#{id}\", sk: X}}\n")
	events := func(inMessage int, more string) string {
		var b strings.Builder
		for i := range 100 {
			before, after := ",", ""
			if i%inMessage == 0 {
				before = "["
			}
			if (i+1)%inMessage == 0 {
				after = "]\n"
			}
			fmt.Fprintf(&b, `%s{"id":"%d","at":"2026-03-14T09:00:00Z","x":"%s"}%s`, before, i, more, after)
		}
		if inMessage == 1 {
			return strings.NewReplacer("[{", "{", "}]", "}").Replace(b.String())
		}
		return b.String()
	}
	long := strings.Repeat("x", 10_000)
	for _, c := range []struct {
		inMessage, together int
		more                string
		sent, batches       float64 // a second
		requests            float64
	}{
		{1, 0, "", 100, 100.0 / 21, 100 + 2*10},                   // ten messages are received, and deleted, at once
		{1, 10, "", 100, 100.0 / 21, 10 + 2*10},                   // and sent
		{10, 0, "", 10, 10.0 / 3, 10 + 2*10.0/3},                  // a batch has 1 + 10/5 messages
		{100, 0, "", 1, 1 / 1.2, 1 + 2*1/1.2},                     // likewise
		{10, 0, long, 10, 10.0 / 3, 2*10 + 2*10.0/3 + 10.0/3},     // 100 KB are two chunks: to send, and to receive
		{10, 5, long, 10, 10.0 / 3, 8.0/5*10 + 2*10.0/3 + 10.0/3}, // 500 KB are eight
	} {
		in.Together = c.together
		r := computed(t, in, events(c.inMessage, c.more))
		for what, n := range map[string][2]float64{
			"SQS requests": {of(r, "queue", "SQS requests"), c.requests * 1e4}, "invocations": {of(r, "ingest function", "invocations"),
				c.batches * 1e4},
			"write units": {of(r, "puts", "write units"), 1e6 * float64(1+len(c.more)/1024)},
		} {
			if math.Abs(n[0]-n[1]) > n[1]/1000 {
				t.Errorf("%d in a message: %v %s a million, want %v", c.inMessage, n[0], what, n[1])
			}
		}
		var text strings.Builder
		if r.WriteText(&text); strings.Contains(text.String(), fmt.Sprintf("%d in a message", c.inMessage)) != (c.inMessage > 1) {
			t.Errorf("%s", &text)
		}
	}
}
