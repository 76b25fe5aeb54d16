package store

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/packed"
	"github.com/ingot-events/ingot/keys"
)

// image is an item as the service returns and accepts it.
type image = map[string]types.AttributeValue

func text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func integer(i int64) types.AttributeValue { return number(strconv.FormatInt(i, 10)) }
func binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
func keyImage(k event.Key) image           { return image{"PK": text(k.PK), "SK": text(k.SK)} }
func keyOf(img image) event.Key            { return event.Key{PK: textOf(img["PK"]), SK: textOf(img["SK"])} }

func textOf(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func numberOf(v types.AttributeValue) string {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}

func integerOf(v types.AttributeValue) int64 {
	if v == nil {
		return 0
	}
	i, _ := strconv.ParseInt(numberOf(v), 10, 64)
	return i
}

func bytesOf(v types.AttributeValue) []byte {
	if b, ok := v.(*types.AttributeValueMemberB); ok {
		return b.Value
	}
	return nil
}

// encode returns the stored form of an event's item. Other programs read this form: see the design
// page, "Stored formats".
func encode(item *event.Item) image {
	list := appendAttributes(nil, item)
	img := make(image, len(list))
	for _, a := range list {
		img[a.name] = a.value
	}
	return img
}

// partsAttribute holds how many parts the message of a whole yields.
const partsAttribute = "i:parts"

// putAttribute holds the epoch under which the transaction that stored the item moved totals.
const putAttribute = "i:put"

// attribute is one attribute of a stored item.
type attribute struct {
	name  string
	value types.AttributeValue
}

// appendAttributes does what encode does, without a map. Each name occurs once.
func appendAttributes(list []attribute, item *event.Item) []attribute {
	list = append(slices.Grow(list, 12+2*len(item.Indexes)+len(item.Attributes)),
		attribute{"PK", text(item.Key.PK)}, attribute{"SK", text(item.Key.SK)},
		attribute{"type", text(item.Type)}, attribute{"id", text(item.ID)}, attribute{"at", text(keys.FormatTime(item.At))},
		attribute{"digest", binary(item.Digest[:])}, attribute{"epoch", integer(item.Epoch)}, attribute{"data", payloadValue(item)})
	if item.Payload != nil {
		list = append(list, attribute{itemform.Payload, binary(item.Payload.Sum[:])})
	}
	for _, index := range item.Indexes {
		list = append(list, attribute{index.Name + "PK", text(index.Key.PK)}, attribute{index.Name + "SK", text(index.Key.SK)})
	}
	if item.ExpiresAt != 0 {
		list = append(list, attribute{"expiresAt", integer(item.ExpiresAt)})
	}
	if item.Revision != nil {
		list = append(list, attribute{"revision", number(item.Revision.String())})
	}
	if item.Ties != "" {
		list = append(list, attribute{"i:revision", text(item.Ties)})
	}
	if item.Parts != nil {
		list = append(list, attribute{partsAttribute, integer(int64(item.Parts.Count))})
	}
	if len(item.Meta) > 0 {
		meta := make(image, len(item.Meta))
		for name, value := range item.Meta {
			meta[name] = text(value)
		}
		list = append(list, attribute{"meta", &types.AttributeValueMemberM{Value: meta}})
	}
	for _, a := range item.Attributes {
		list = append(list, attribute{a.Name, attributeValue(a)})
	}
	return list
}

// payloadValue returns the stored form of a payload. payloadOf reads it.
func payloadValue(item *event.Item) types.AttributeValue {
	if item.Packed != nil {
		return binary(item.Packed)
	}
	return text(item.Data)
}

// payloadOf reads a stored payload, and returns its packed form too, if it has one. All code that
// reads payloads calls it. The text is empty if the payload cannot be read.
func payloadOf(v types.AttributeValue) (data string, b []byte) {
	if b = bytesOf(v); b == nil {
		return textOf(v), nil
	}
	data, err := packed.Unpack(b)
	if err != nil {
		return "", nil
	}
	return data, b
}

// elsewhere reads the attribute of an item whose payload is in the payload bucket. It returns nil
// if the payload is in the item.
func elsewhere(v types.AttributeValue) (*event.Payload, error) {
	if v == nil {
		return nil, nil
	}
	p := &event.Payload{}
	sum := bytesOf(v)
	if len(sum) != len(p.Sum) {
		return nil, fmt.Errorf("%s is not the %d bytes of a SHA-256", itemform.Payload, len(p.Sum))
	}
	copy(p.Sum[:], sum)
	return p, nil
}

func attributeValue(a event.Attribute) types.AttributeValue {
	switch a.Kind {
	case event.NumberAttribute:
		return number(a.Text)
	case event.BoolAttribute:
		return &types.AttributeValueMemberBOOL{Value: a.Text == "true"}
	}
	return text(a.Text)
}

// decode reads a stored item. It returns nil and no error for an image without Ingot's type. An
// error means that the image has Ingot's type but cannot be decoded.
func decode(img image) (*event.Item, error) {
	typ := textOf(img["type"])
	if typ == "" {
		return nil, nil
	}
	item := &event.Item{Key: keyOf(img), Type: typ, ID: textOf(img["id"]), ExpiresAt: integerOf(img["expiresAt"])}
	item.Data, item.Packed = payloadOf(img["data"])
	digest := bytesOf(img["digest"])
	if item.Key.PK == "" || item.Data == "" || len(digest) != len(item.Digest) {
		return nil, fmt.Errorf("item %q has type %q but no usable key, digest or data", item.Key, typ)
	}
	item.Digest = event.Digest(digest)
	var err error
	if item.Payload, err = elsewhere(img[itemform.Payload]); err != nil {
		return nil, fmt.Errorf("item %q: %w", item.Key, err)
	}
	if item.Epoch, err = stampOf(img["epoch"]); err != nil {
		return nil, fmt.Errorf("item %q: %w", item.Key, err)
	}
	at, err := keys.ParseTime(textOf(img["at"]))
	if err != nil {
		return nil, fmt.Errorf("item %q: at: %w", item.Key, err)
	}
	item.At = at
	if n := numberOf(img["revision"]); n != "" {
		revision, err := event.ParseDecimal(n)
		if err != nil {
			return nil, fmt.Errorf("item %q: revision: %w", item.Key, err)
		}
		item.Revision = &revision
	}
	item.Ties = textOf(img["i:revision"])
	if img[partsAttribute] != nil {
		item.Parts = &event.Parts{Count: int(integerOf(img[partsAttribute]))}
	}
	item.Put = integerOf(img[putAttribute])
	if meta, ok := img["meta"].(*types.AttributeValueMemberM); ok {
		item.Meta = make(map[string]string, len(meta.Value))
		for name, v := range meta.Value {
			item.Meta[name] = textOf(v)
		}
	}
	decodeDeclared(item, img)
	return item, nil
}

// stampOf returns an item's epoch, or 0 if it has none. It refuses an epoch that no pipeline can
// have: the stream would wait for a newer pipeline that cannot exist.
func stampOf(v types.AttributeValue) (int64, error) {
	if v == nil {
		return 0, nil
	}
	epoch, err := strconv.ParseInt(numberOf(v), 10, 64)
	if err != nil || epoch < 0 || epoch > event.MaxEpoch {
		return 0, fmt.Errorf("epoch is not a whole number from 0 to %d", event.MaxEpoch)
	}
	return epoch, nil
}

// decodeDeclared reads index keys and declared attributes, in the order of their names.
func decodeDeclared(item *event.Item, img image) {
	for name, v := range img {
		if index, ok := strings.CutSuffix(name, "PK"); ok && itemform.IsIndex(index) {
			key := event.Key{PK: textOf(v), SK: textOf(img[index+"SK"])}
			item.Indexes = append(item.Indexes, event.IndexKey{Name: index, Key: key})
			continue
		}
		if itemform.IsOwnAttribute(name) {
			continue
		}
		switch v := v.(type) {
		case *types.AttributeValueMemberS:
			item.Attributes = append(item.Attributes, event.Attribute{Name: name, Kind: event.StringAttribute, Text: v.Value})
		case *types.AttributeValueMemberN:
			item.Attributes = append(item.Attributes, event.Attribute{Name: name, Kind: event.NumberAttribute, Text: v.Value})
		case *types.AttributeValueMemberBOOL:
			item.Attributes = append(item.Attributes,
				event.Attribute{Name: name, Kind: event.BoolAttribute, Text: strconv.FormatBool(v.Value)})
		}
	}
	slices.SortFunc(item.Indexes, func(a, b event.IndexKey) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(item.Attributes, func(a, b event.Attribute) int { return strings.Compare(a.Name, b.Name) })
}

// imageSize returns the stored size of an image in bytes. See [event.Item.Size] for the rules.
func imageSize(img image) int {
	size := 0
	for name, v := range img {
		size += len(name) + valueSize(v)
	}
	return size
}

func valueSize(v types.AttributeValue) int {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return len(v.Value)
	case *types.AttributeValueMemberN:
		return itemform.NumberSize(v.Value)
	case *types.AttributeValueMemberB:
		return len(v.Value)
	case *types.AttributeValueMemberM:
		size := 3
		for name, entry := range v.Value {
			size += 1 + len(name) + valueSize(entry)
		}
		return size
	}
	return 1
}
