package rows

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

// TextsOf returns the texts of a set, and none for anything else.
func TextsOf(v types.AttributeValue) []string {
	if set, ok := v.(*types.AttributeValueMemberSS); ok {
		return set.Value
	}
	return nil
}

// Image is an item as the service returns and accepts it.
type Image = map[string]types.AttributeValue

func Text(s string) types.AttributeValue   { return &types.AttributeValueMemberS{Value: s} }
func Number(s string) types.AttributeValue { return &types.AttributeValueMemberN{Value: s} }
func Integer(i int64) types.AttributeValue { return Number(strconv.FormatInt(i, 10)) }
func Binary(b []byte) types.AttributeValue { return &types.AttributeValueMemberB{Value: b} }
func KeyImage(k event.Key) Image           { return Image{"PK": Text(k.PK), "SK": Text(k.SK)} }
func KeyOf(img Image) event.Key            { return event.Key{PK: TextOf(img["PK"]), SK: TextOf(img["SK"])} }

func TextOf(v types.AttributeValue) string {
	if s, ok := v.(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

func NumberOf(v types.AttributeValue) string {
	if n, ok := v.(*types.AttributeValueMemberN); ok {
		return n.Value
	}
	return ""
}

func IntegerOf(v types.AttributeValue) int64 {
	if v == nil {
		return 0
	}
	i, _ := strconv.ParseInt(NumberOf(v), 10, 64)
	return i
}

func BytesOf(v types.AttributeValue) []byte {
	if b, ok := v.(*types.AttributeValueMemberB); ok {
		return b.Value
	}
	return nil
}

// Encode returns the stored form of an event's item. Other programs read this form: see the design
// page, "Stored formats".
func Encode(item *event.Item) Image {
	list := AppendAttributes(nil, item)
	img := make(Image, len(list))
	for _, a := range list {
		img[a.Name] = a.Value
	}
	return img
}

// PartsAttribute holds how many parts the message of a whole yields.
const PartsAttribute = "i:parts"

// PutAttribute holds the epoch under which the transaction that stored the item moved totals.
const PutAttribute = "i:put"

// Attribute is one attribute of a stored item.
type Attribute struct {
	Name  string
	Value types.AttributeValue
}

// AppendAttributes does what encode does, without a map. Each name occurs once.
func AppendAttributes(list []Attribute, item *event.Item) []Attribute {
	list = append(slices.Grow(list, 12+2*len(item.Indexes)+len(item.Attributes)),
		Attribute{"PK", Text(item.Key.PK)}, Attribute{"SK", Text(item.Key.SK)},
		Attribute{"type", Text(item.Type)}, Attribute{"id", Text(item.ID)}, Attribute{"at", Text(keys.FormatTime(item.At))},
		Attribute{"digest", Binary(item.Digest[:])}, Attribute{"epoch", Integer(item.Epoch)}, Attribute{"data", payloadValue(item)})
	if item.Payload != nil {
		list = append(list, Attribute{itemform.Payload, Binary(item.Payload.Sum[:])})
	}
	for _, index := range item.Indexes {
		list = append(list, Attribute{index.Name + "PK", Text(index.Key.PK)}, Attribute{index.Name + "SK", Text(index.Key.SK)})
	}
	if item.ExpiresAt != 0 {
		list = append(list, Attribute{"expiresAt", Integer(item.ExpiresAt)})
	}
	if item.Revision != nil {
		list = append(list, Attribute{"revision", Number(item.Revision.String())})
	}
	if item.Ties != "" {
		list = append(list, Attribute{"i:revision", Text(item.Ties)})
	}
	if item.Parts != nil {
		list = append(list, Attribute{PartsAttribute, Integer(int64(item.Parts.Count))})
	}
	if len(item.Meta) > 0 {
		meta := make(Image, len(item.Meta))
		for name, value := range item.Meta {
			meta[name] = Text(value)
		}
		list = append(list, Attribute{"meta", &types.AttributeValueMemberM{Value: meta}})
	}
	for _, a := range item.Attributes {
		list = append(list, Attribute{a.Name, attributeValue(a)})
	}
	return list
}

// payloadValue returns the stored form of a payload. payloadOf reads it.
func payloadValue(item *event.Item) types.AttributeValue {
	if item.Packed != nil {
		return Binary(item.Packed)
	}
	return Text(item.Data)
}

// payloadOf reads a stored payload, and returns its packed form too, if it has one. All code that
// reads payloads calls it. The text is empty if the payload cannot be read.
func payloadOf(v types.AttributeValue) (data string, b []byte) {
	if b = BytesOf(v); b == nil {
		return TextOf(v), nil
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
	sum := BytesOf(v)
	if len(sum) != len(p.Sum) {
		return nil, fmt.Errorf("%s is not the %d bytes of a SHA-256", itemform.Payload, len(p.Sum))
	}
	copy(p.Sum[:], sum)
	return p, nil
}

func attributeValue(a event.Attribute) types.AttributeValue {
	switch a.Kind {
	case event.NumberAttribute:
		return Number(a.Text)
	case event.BoolAttribute:
		return &types.AttributeValueMemberBOOL{Value: a.Text == "true"}
	}
	return Text(a.Text)
}

// Decode reads a stored item. It returns nil and no error for an image without Ingot's type. An
// error means that the image has Ingot's type but cannot be decoded.
func Decode(img Image) (*event.Item, error) {
	typ := TextOf(img["type"])
	if typ == "" {
		return nil, nil
	}
	item := &event.Item{Key: KeyOf(img), Type: typ, ID: TextOf(img["id"]), ExpiresAt: IntegerOf(img["expiresAt"])}
	item.Data, item.Packed = payloadOf(img["data"])
	digest := BytesOf(img["digest"])
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
	at, err := keys.ParseTime(TextOf(img["at"]))
	if err != nil {
		return nil, fmt.Errorf("item %q: at: %w", item.Key, err)
	}
	item.At = at
	if n := NumberOf(img["revision"]); n != "" {
		revision, err := event.ParseDecimal(n)
		if err != nil {
			return nil, fmt.Errorf("item %q: revision: %w", item.Key, err)
		}
		item.Revision = &revision
	}
	item.Ties = TextOf(img["i:revision"])
	if img[PartsAttribute] != nil {
		item.Parts = &event.Parts{Count: int(IntegerOf(img[PartsAttribute]))}
	}
	item.Put = IntegerOf(img[PutAttribute])
	if meta, ok := img["meta"].(*types.AttributeValueMemberM); ok {
		item.Meta = make(map[string]string, len(meta.Value))
		for name, v := range meta.Value {
			item.Meta[name] = TextOf(v)
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
	epoch, err := strconv.ParseInt(NumberOf(v), 10, 64)
	if err != nil || epoch < 0 || epoch > event.MaxEpoch {
		return 0, fmt.Errorf("epoch is not a whole number from 0 to %d", event.MaxEpoch)
	}
	return epoch, nil
}

// decodeDeclared reads index keys and declared attributes, in the order of their names.
func decodeDeclared(item *event.Item, img Image) {
	for name, v := range img {
		if index, ok := strings.CutSuffix(name, "PK"); ok && itemform.IsIndex(index) {
			key := event.Key{PK: TextOf(v), SK: TextOf(img[index+"SK"])}
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

// ImageSize returns the stored size of an image in bytes. See [event.Item.Size] for the rules.
func ImageSize(img Image) int {
	size := 0
	for name, v := range img {
		size += len(name) + ValueSize(v)
	}
	return size
}

func ValueSize(v types.AttributeValue) int {
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
			size += 1 + len(name) + ValueSize(entry)
		}
		return size
	}
	return 1
}
