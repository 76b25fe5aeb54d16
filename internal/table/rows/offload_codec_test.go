package rows

import (
	"reflect"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// An item says by one attribute that its payload is in the payload bucket. Nothing else of its form
// changes.
func TestFormOfAnOffloadedItem(t *testing.T) {
	item := &event.Item{Key: event.Key{PK: "p", SK: "s"}, Type: "order", ID: "1", At: must.Time("2099-03-01T00:00:00Z"),
		Digest: event.Digest{1}, Epoch: 3,
		Data: `{"id":"1"}`, Payload: &event.Payload{Sum: [32]byte{5}, Text: `{"id":"1","text":"x"}`}}
	img := Encode(item)
	sum, ok := img["i:payload"].(*types.AttributeValueMemberB)
	if data := TextOf(img["data"]); !ok || len(sum.Value) != 32 || sum.Value[0] != 5 || data != `{"id":"1"}` {
		t.Errorf("it is stored as %v", img)
	}
	must.Equal(t, item.Size(), ImageSize(img))
	read, err := Decode(img)
	want := *item
	want.Payload = &event.Payload{Sum: item.Payload.Sum}
	if err != nil || !reflect.DeepEqual(*read, want) || read.Text() != "" {
		t.Errorf("it is read as %+v, %v", read, err)
	}
	delete(img, "i:payload")
	if plain := *item; true {
		plain.Payload = nil
		must.Match(t, Encode(&plain), img)
	}
	for name, v := range map[string]types.AttributeValue{"short": Binary(make([]byte, 31)), "long": Binary(make([]byte, 33)),
		"text": Text(strings.Repeat("x", 32)), "nothing": Binary(nil)} {
		img["i:payload"] = v
		if _, err := Decode(img); err == nil || !strings.Contains(err.Error(), "i:payload is not the 32 bytes of a SHA-256") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
