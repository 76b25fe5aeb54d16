package query

import (
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/tables"
)

// FuzzImage gives everything that reads stored items an item with any attributes of any type, also
// foreign ones. What is taken for Ingot's must be whole, and must be written again as it was.
// Everything else must leave a reason.
func FuzzImage(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{
		`{}`, `{"PK":{"S":"p"},"SK":{"S":"s"},"type":{"N":"1"}}`, `{"PK":{"S":"E#"},"SK":{"S":"-"},"epoch":{"N":"3"}}`,
		`{"PK":{"S":"ORDER#1"},"SK":{"S":"ORDER"},"GSI1PK":{"S":"a"},"GSI1SK":{"S":"b"},"type":{"S":"order"},"id":{"S":"1"},"at":{"S":"2099-03-01T10:00:00.000000000Z"},` +
			`"digest":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="},"epoch":{"N":"1"},"expiresAt":{"N":"4"},"revision":{"N":"1.50"},"meta":{"M":{"source":{"S":"/shop"}}},"paid":{"BOOL":true},"data":{"S":"{}"}}`,
		`{"PK":{"S":"A#daily#1#0#m"},"SK":{"S":"2099-03-01T00:00:00Z"},"n":{"N":"2"},"fp":{"N":"123"},"fpx":{"N":"1"},"largest":{"N":"7"},"flag":{"S":"why"},"m:AAAAAAAAAAAAAAAA":{"B":"AAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}`,
		`{"PK":{"S":"G#daily#1"},"SK":{"S":"-"},"definition":{"S":"{}"},"digest":{"S":"00"},"counting":{"S":"marks"},"spread":{"N":"4"},"building":{"BOOL":true},"behind":{"N":"2"}}`,
	} {
		f.Add(seed)
	}
	def := &aggregate.Definition{Name: "daily", Since: 1, Values: []aggregate.Value{{Name: "largest", Op: aggregate.Max},
		{Name: "n1", Op: aggregate.Count}}}
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := event.ParseDocument(text)
		if err != nil || doc.Root().Kind() != event.Object {
			return
		}
		img := anyImage(doc.Root())
		checkEventItem(t, img)
		checkTotal(t, img)
		_, building := img["building"].(*types.AttributeValueMemberBOOL)
		if generations.ReadHead(img).Building && !building {
			t.Errorf("building is read from a %T", img["building"])
		}
		for _, m := range rows.Observe(def, img, "").Marks {
			name := m.Name
			if _, isBytes := img[name].(*types.AttributeValueMemberB); !isBytes || !strings.HasPrefix(name, lanes.MarkPrefix) {
				t.Errorf("a mark is read from %s, a %T", name, img[name])
			}
		}
		if size := rows.ImageSize(img); size < len(img) {
			t.Errorf("%d attributes in %d bytes", len(img), size)
		}
	})
}

func checkEventItem(t *testing.T, img rows.Image) {
	t.Helper()
	item, err := rows.Decode(img)
	known := rows.ReadWhole(img)
	switch {
	case err != nil && item != nil, err == nil && (item == nil) != (rows.TextOf(img["type"]) == ""):
		t.Fatalf("item %+v, error %v", item, err)
	case err != nil && err.Error() == "":
		t.Fatal("no reason")
	case item == nil && err == nil && !known.Foreign:
		t.Fatal("no item of Ingot's, and judged as if it were")
	case item == nil:
		return
	}
	if item.Key.PK == "" || item.Data == "" || item.Type == "" || item.At.Location() != item.At.UTC().Location() {
		t.Fatalf("half an item: %+v", item)
	}
	if known.Foreign || known.Digest != item.Digest || known.ExpiresAt != item.ExpiresAt || known.Typ != item.Type {
		t.Fatalf("read for judging as %+v, and as an item as %+v", known, item)
	}
	again, err := rows.Decode(rows.Encode(item))
	if err != nil {
		t.Fatalf("written again it cannot be read: %v", err)
	}
	if len(item.Meta) == 0 {
		item.Meta = nil
	}
	if !reflect.DeepEqual(again, item) {
		t.Fatalf("%+v\nis written again as\n%+v", item, again)
	}
}

func checkTotal(t *testing.T, img rows.Image) {
	t.Helper()
	total, ok := walk.ReadTotal(img)
	if !ok {
		return
	}
	a := total.Address
	def := &aggregate.Definition{Name: a.Name, Since: a.Since}
	if key := lanes.Key(def, a.Bucket, a.By, a.Window); key != rows.KeyOf(img) {
		t.Fatalf("the total %s is taken for %s", rows.KeyOf(img), key)
	}
	other, _ := walk.ReadTotal(img)
	if !reflect.DeepEqual(total, other) {
		t.Fatal("read twice, read otherwise")
	}
	// Buckets are added up, whatever numbers they hold.
	gather(def, nil, []tables.StoredTotal{total, {Address: a, N: 1, FP: event.DecimalOf(1), FPX: event.DecimalOf(1)}})
}

// anyImage reads DynamoDB JSON of every type that the client can return. Any other type becomes the
// client's own unknown member.
func anyImage(n event.Node) rows.Image {
	img := rows.Image{}
	for name, value := range n.Members() {
		img[name] = anyValue(value)
	}
	return img
}

func anyValue(n event.Node) types.AttributeValue {
	for kind, v := range n.Members() {
		switch kind {
		case "S":
			return rows.Text(v.Text())
		case "N":
			return rows.Number(v.Text())
		case "B":
			b, _ := base64.StdEncoding.DecodeString(v.Text())
			return rows.Binary(b)
		case "BOOL":
			return &types.AttributeValueMemberBOOL{Value: v.Text() == "true"}
		case "NULL":
			return &types.AttributeValueMemberNULL{Value: true}
		case "SS":
			return &types.AttributeValueMemberSS{Value: texts(v)}
		case "NS":
			return &types.AttributeValueMemberNS{Value: texts(v)}
		case "BS":
			return &types.AttributeValueMemberBS{}
		case "L":
			list := &types.AttributeValueMemberL{}
			for e := range v.Elements() {
				list.Value = append(list.Value, anyValue(e))
			}
			return list
		case "M":
			return &types.AttributeValueMemberM{Value: anyImage(v)}
		case "nil":
			return nil
		}
	}
	return &types.UnknownUnionMember{Tag: "X"}
}

func texts(n event.Node) (all []string) {
	for e := range n.Elements() {
		all = append(all, e.Text())
	}
	return all
}
