package pipeline

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// partsInside is an order inside an object, with its id, its lines and its tags beside each other.
const partsInside = `ingot: 1
epoch: 1
type: "order"
events:
  order:
    id: "{order.shop}#{order.id}"
    at: "{at}"
    key: {pk: "ORDER#{order.shop}#{order.id}", sk: "ORDER"}
    retain: 90d
  line:
    part: {of: order, each: order.lines, with: {order_id: order.id, shop: order.shop, at: at}}
    id: "{shop}#{order_id}#{@index}"
    key: {pk: "ORDER#{shop}#{order_id}", sk: "LINE#{@index | pad:3}"}
    indexes:
      GSI1: {pk: "SKU#{sku}", sk: "{@id}"}
  tag:
    part: {of: order, each: order.tags, with: {shop: order.shop, order: order.id}}
    id: "{shop}#{order}#{value}"
    key: {pk: "TAG#{value}", sk: "{shop}#{order}"}
aggregates:
  sold: {since: 1, by: {sku: "{sku}"}, from: {line: {values: {lines: count}}}}
  tagged: {since: 1, by: {tag: "{value}"}, from: {tag: {values: {orders: count}}}}
`

const orderInside = `{"at":"2099-03-01T10:00:00Z","order":{"id":7.0,"shop":"s",` +
	`"lines":[{"sku":"a"},{"sku":"a"},{ "sku":"b" }],"tags":["x\u0020",5]}}`

// Parts of what is inside an object: their elements may be texts or numbers, their keys may show
// their position, and they have values of the object around them under names of their own.
func TestPartsInside(t *testing.T) {
	p := mustLoad(t, partsInside)
	item, err := p.Plan(envelope.Message{Body: orderInside})
	must.Succeed(t, err)
	var got []string
	for _, part := range item.Parts.Items {
		got = append(got, part.Key.String()+" "+part.ID+" "+part.Data)
	}
	must.Equal(t, strings.Join(got, "\n"), `ORDER#s#7 / LINE#000 s#7#0 {"order_id":7.0,"shop":"s","at":"2099-03-01T10:00:00Z","sku":"a"}
ORDER#s#7 / LINE#001 s#7#1 {"order_id":7.0,"shop":"s","at":"2099-03-01T10:00:00Z","sku":"a"}
ORDER#s#7 / LINE#002 s#7#2 {"order_id":7.0,"shop":"s","at":"2099-03-01T10:00:00Z","sku":"b"}
TAG#x  / s#7 s#7#x  {"shop":"s","order":7.0,"value":"x\u0020"}
TAG#5 / s#7 s#7#5 {"shop":"s","order":7.0,"value":5}`)
	again, err := p.Parts(item)
	must.Succeed(t, err)
	for i, part := range again {
		if own := item.Parts.Items[i]; part.Key != own.Key || part.Data != own.Data || part.Digest != own.Digest {
			t.Errorf("made again, %s is %s", own.Key, part.Key)
		}
		if whole := p.WholeOf(part); whole == nil || whole.Key != item.Key || whole.ExpiresAt != item.ExpiresAt {
			t.Errorf("the whole of %s is %+v", part.Key, whole)
		}
	}
	kept, err := p.Kept("order", orderInside)
	if err != nil || !strings.Contains(kept, `"tags"`) || !strings.Contains(kept, `"shop":"s"`) {
		t.Errorf("%s, %v", kept, err)
	}
	_, err = p.Key("line", envelope.Message{Body: `{"shop":"s","order_id":7}`})
	must.Fail(t, err, "uses its position")
	with := p.Describe().Spec.Events["line"].Part.With
	must.Equal(t, strings.Join(with, " "), "order_id=order.id shop=order.shop at")
	again2, err := New(p.Describe().Spec)
	must.Succeed(t, err)
	must.Equal(t, strings.Join(again2.Describe().Spec.Events["line"].Part.With, " "), strings.Join(with, " "))
	for _, read := range p.Describe().Reads["order"] {
		if read.Use == "part line id" && read.Path.String() != "order.shop" && read.Path.String() != "order.id" {
			t.Errorf("%+v", read)
		}
	}
	for body, want := range map[string]string{
		strings.Replace(orderInside, `["x\u0020",5]`, `[["x"]]`, 1): "part tag: order.tags[0] is an array, not an object, a text " +
			"or a number",
		strings.Replace(orderInside, `["x\u0020",5]`, `[{"value":"x"}]`, 1):      "",
		strings.Replace(orderInside, `["x\u0020",5]`, `["x","x"]`, 1):            "have the same key",
		strings.Replace(orderInside, `{"sku":"a"}`, `{"sku":"a","shop":"t"}`, 1): "both the whole and order.lines[0] have a member shop",
	} {
		_, err := p.Plan(envelope.Message{Body: body})
		if got := ""; err != nil && (want == "" || !strings.Contains(event.RefusalOf(err).Detail, want)) || err == nil && want != got {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

// A whole whose id is beside its lines: the advice leads to a file that is right.
func TestAdviceOnPartsInside(t *testing.T) {
	for old, c := range map[string]struct{ new, want string }{
		"with: {order_id: order.id, shop: order.shop, at: at}": {"with: [order.id, order.shop]",
			"order.id is inside of a member, and needs a name of its own in the part; write {id: order.id, shop: order.shop}"},
		", shop: order.shop, at: at}}\n    id: \"{shop}#{order_id}#{@index}\"\n    key: {pk: \"ORDER#{shop}#": {
			"}}\n    id: \"{order_id}#{@index}\"\n    key: {pk: \"ORDER#",
			"key does not show order.shop of the whole, which the id of order uses: parts of two wholes could have one key; " +
				"write with: {order_id: order.id, shop: order.shop}, and add {shop} to sk"},
		"order_id: order.id, ": {"\"a b\": order.id, ", "key does not show order.id of the whole"},
		"{order_id: order.id, shop: order.shop,": {"{order_id: order.id, shop: \"order.ids[0]\",",
			"order.ids[0] is an element of an array"},
		"each: order.lines, with: {order_id": {"each: order.lines, with: {shop: order.shop, order_id", "shop is already declared"},
		"by: {sku: \"{sku}\"}":               {"by: {sku: \"{@index}\"}", "cannot use @index"},
		"type: \"order\"":                    {"type: \"{@index}\"", "type cannot use @index"},
	} {
		text := strings.Replace(partsInside, old, c.new, 1)
		if text == partsInside {
			t.Fatalf("%q changes nothing", old)
		}
		refused(t, text, c.want)
	}
}
