package store_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/packed"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// compressed adds a type whose payloads are compressed.
func compressed(s *setup) {
	adds(&s.Spec, `
events:
  note: {id: "{id}", at: "{at}", key: {pk: "NOTE#{id}", sk: NOTE}, retain: 90d, ignore: [trace], compress: true}
aggregates:
  notes: {since: 1, from: {note: {values: {notes: count, pages: sum pages}}}}
`)
}

// note returns a note of 4 KB.
func (w *world) note(id string, pages int, more ...string) *event.Item {
	return w.item(append([]string{`"type":"note"`, fmt.Sprintf(`"id":%q`, id), `"at":"2099-03-01T10:00:00Z"`,
		fmt.Sprintf(`"pages":%d`, pages), `"text":"` + strings.Repeat("lorem ipsum ", 330) + `"`}, more...)...)
}

// A compressed payload is stored as bytes, costs what they take, and is read as the text that it
// was. What is said of an event depends on the text alone.
func TestCompressedPayload(t *testing.T) {
	for what, n := range map[string]int{"alone": 1, "in a batch": 40} {
		w := newWorld(t, compressed)
		var items, spelled, ignored, other events
		for i := range n {
			id := fmt.Sprint(i)
			items, spelled = append(items, w.note(id, 7)),
				append(spelled, w.item(`"text":"`+strings.Repeat("lorem\\u0020ipsum ", 330)+`"`, `"type":"note"`,
					fmt.Sprintf(`"id":%q`, id), `"at":"2099-03-01T10:00:00Z"`, `"pages":7.0`))
			ignored, other = append(ignored, w.note(id, 7, `"trace":"b"`)), append(other, w.note(id, 8))
		}
		all := func(step string, items events, want event.Verdict) []tables.Result {
			t.Helper()
			results, cost := w.arrive(items...)
			for _, r := range results {
				if r.Verdict != want {
					t.Fatalf("%s, %s: %s, want %s: %v", what, step, r.Verdict, want, r.Refusal)
				}
			}
			if step == "new" && cost.WriteUnits != float64(n) {
				t.Errorf("%s: %d items of 4 KB cost %v units, want one each", what, n, cost.WriteUnits)
			}
			return results
		}
		all("new", items, event.Inserted)
		all("again", items, event.Duplicate)
		all("in another spelling", spelled, event.Duplicate)
		all("with what is ignored", ignored, event.Duplicate)
		for _, r := range all("with another number", other, event.Conflict) {
			if !strings.Contains(r.Refusal.Detail, "pages") || r.Refusal.Reason != event.DigestDiffers {
				t.Fatalf("%s: %v", what, r.Refusal)
			}
		}
		if bytes, ok := w.stored("events", items[0].Key)["data"].(*types.AttributeValueMemberB); !ok || len(bytes.Value) > 600 {
			t.Errorf("%s: the payload is stored as %T", what, w.stored("events", items[0].Key)["data"])
		}
		read, err := w.store.Item(deadline(t), items[0].Key)
		if err != nil || read.Data != items[0].Data || read.Size() != items[0].Size() {
			t.Errorf("%s: it is read as %+v, %v", what, read, err)
		}
	}
}

// An atomic whole and its parts are compressed each for itself, in one transaction. A copy of them
// meets what is stored, also if only a part is there, and a transaction costs twice what the
// compressed items take.
func TestCompressedAndAtomic(t *testing.T) {
	w := newWorld(t, func(s *setup) {
		adds(&s.Spec, `
events:
  letter: {id: "{id}", at: "{at}", key: {pk: "LETTER#{id}", sk: X}, retain: 90d, atomic: true, compress: true}
  page: {part: {of: letter, each: pages, with: [id]}, id: "{id}#{n}", key: {pk: "LETTER#{id}", sk: "PAGE#{n}"}, compress: true}
`)
	})
	letter := func(more string) *event.Item {
		long := strings.Repeat("lorem ipsum ", 330)
		return w.item(`"type":"letter"`, `"id":"1"`, `"at":"2099-03-01T10:00:00Z"`, `"pages":[{"n":1,"text":"`+long+
			`"},{"n":2,"text":"short`+more+`"}]`)
	}
	item := letter("")
	if pages := item.Parts.Items; item.Packed == nil || pages[0].Packed == nil || pages[1].Packed != nil {
		t.Fatal("the whole and the long part are to be compressed, and nothing else")
	}
	put := func(item *event.Item) (tables.Result, tables.Cost) {
		t.Helper()
		results, cost := w.arrive(item)
		return results[0], cost
	}
	meter := w.meter()
	r, cost := put(item)
	if charged := meter().WriteUnits(); r.Verdict != event.Inserted || charged != 6 || cost.WriteUnits != 6 ||
		cost.Requests != 1 {
		t.Errorf("%+v, %v units and %v charged in %d requests, want two for each of three items", r, cost.WriteUnits, charged,
			cost.Requests)
	}
	if r, _ := put(letter("")); r.Verdict != event.Duplicate {
		t.Errorf("again: %+v", r)
	}
	if r, _ := put(letter("er")); r.Verdict != event.Conflict {
		t.Errorf("with another page: %+v", r)
	}
	w.removes(under("LETTER#1", "PAGE#1"))
	if r, _ := put(letter("")); r.Verdict != event.Inserted || r.Parts[0].Verdict != event.Inserted ||
		r.Parts[1].Verdict != event.Duplicate {
		t.Errorf("a page was missing: %+v", r)
	}
	for _, want := range append(item.Parts.Items, item) {
		read, err := w.store.Item(deadline(t), want.Key)
		if err != nil || read.Data != want.Data || read.Digest != want.Digest {
			t.Errorf("%s is read as %+v, %v", want.Key, read, err)
		}
	}
}

// Bytes that are not a packed payload are an odd item, whatever they would unpack to.
func TestBytesThatAreNotAPayload(t *testing.T) {
	for name, bytes := range map[string][]byte{"text": []byte(`{"id":"1"}`), "nothing": {},
		"too large a claim": {0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40}} {
		w := newWorld(t, compressed)
		item := w.note("1", 7)
		w.arrive(item)
		img := w.stored("events", item.Key)
		img["data"] = rows.Binary(bytes)
		w.put("events", img)
		if read, err := w.store.Item(deadline(t), item.Key); err == nil || !strings.Contains(err.Error(), "no usable key, digest or data") {
			t.Errorf("%s: %+v, %v", name, read, err)
		}
		results, _ := w.arrive(item)
		must.Equal(t, results[0].Verdict, event.Conflict, name)
	}
}

// The stream brings the packed form. What is counted and what is archived is the text.
func TestCompressedRecord(t *testing.T) {
	data := `{"type":"order","id":"1","merchant":"m","cents":1,"at":"2099-03-01T10:00:00Z","text":"<é` + strings.Repeat("x", 2000) + `"}`
	coded := base64.StdEncoding.EncodeToString(packed.Pack(data))
	plain := strings.NewReplacer(`"{}"`, `"`+strings.ReplaceAll(data, `"`, `\"`)+`"`).Replace(expiring(`,"expiresAt":{"N":"4075272000"}`))
	image := strings.Replace(expiring(`,"expiresAt":{"N":"4075272000"}`), `"data":{"S":"{}"}`, `"data":{"B":"`+coded+`"}`, 1)
	if image == plain || !strings.Contains(image, coded) {
		t.Fatal("the image is not changed")
	}
	change, err := readRecord([]byte(removal("", image)), "shard")
	if err != nil || change.Old == nil || change.Old.Data != data || !change.Expired || change.OldImage != plain {
		t.Errorf("the change is %+v, %v", change, err)
	}
	_, err = readRecord([]byte(removal("", strings.Replace(image, coded, coded[:len(coded)-8], 1))), "shard")
	must.Fail(t, err, "old image: item \"p / s\" has type")
}
