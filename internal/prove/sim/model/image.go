package model

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
	"github.com/klauspost/compress/zstd"
)

// Object is an object that the archive has taken.
type Object struct{ Name, Body string }

// barredImage reads the image of an item that bars the key of an erased event. It returns nil if
// the image is of another item.
func barredImage(img map[string]streamtypes.AttributeValue) *Image {
	if img["i:barred"] == nil || img["type"] != nil {
		return nil
	}
	pk := ValueOf(img["PK"])
	kind, id, _ := strings.Cut(pk, "#")
	return &Image{Barred: true, Whole: img, PK: pk, SK: ValueOf(img["SK"]), ExpiresAt: atoi(ValueOf(img["expiresAt"])),
		Fact: Fact{Type: strings.ToLower(kind), ID: id}}
}

// Image is one image of the item of an event.
type Image struct {
	Fact
	PK, SK    string
	Epoch     int64
	ExpiresAt int64
	Data      string
	Whole     map[string]streamtypes.AttributeValue
	InBytes   bool   // newer code wrote its payload, in a form that older code cannot read
	Packed    bool   // its payload is compressed
	Elsewhere *Apart // nil: its payload is in the item
	Barred    bool   // it bars the key of an erased event; its fact has only type and id
}

func (m *Model) readImage(img map[string]streamtypes.AttributeValue) (*Image, error) {
	if img == nil {
		return nil, nil
	}
	if bar := barredImage(img); bar != nil {
		return bar, nil
	}
	value := func(name string) string { return ValueOf(img[name]) }
	out := &Image{Whole: img, PK: value("PK"), SK: value("SK"), Data: value("data"), Epoch: atoi(value("epoch")),
		ExpiresAt: atoi(value("expiresAt"))}
	if KindOf(img["data"]) == "B" {
		out.Data, out.Packed = Unpack(out.Data)
		out.InBytes = m.NewForm
	}
	out.Elsewhere, out.Data = m.offloaded(value("i:payload"), out.Data)
	var known bool
	if out.Fact, known = m.read[out.Data]; !known {
		var err error
		parse := Read
		switch value("type") {
		case "line":
			parse = readLine
		case "coupon":
			parse = readCoupon
		case "shelf":
			parse = readShelf
		}
		if out.Fact, err = parse(out.Data); err != nil {
			return nil, err
		}
		m.read[out.Data] = out.Fact
	}
	return out, nil
}

// Digest returns the digest in hex.
func (img *Image) Digest() string { return hex.EncodeToString([]byte(ValueOf(img.Whole["digest"]))) }

// ValueOf returns the value of an attribute as text, whether it is text, a number, bytes or a
// boolean.
func ValueOf(v streamtypes.AttributeValue) string {
	switch v := v.(type) {
	case *streamtypes.AttributeValueMemberS:
		return v.Value
	case *streamtypes.AttributeValueMemberN:
		return v.Value
	case *streamtypes.AttributeValueMemberB:
		return string(v.Value)
	case *streamtypes.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	}
	return ""
}

func KindOf(v streamtypes.AttributeValue) string {
	switch v.(type) {
	case *streamtypes.AttributeValueMemberS:
		return "S"
	case *streamtypes.AttributeValueMemberN:
		return "N"
	case *streamtypes.AttributeValueMemberB:
		return "B"
	case *streamtypes.AttributeValueMemberBOOL:
		return "BOOL"
	}
	return fmt.Sprintf("%T", v)
}

// Typed is the type and value that an attribute must have.
type Typed struct{ Kind, Value string }

// stored returns what the item of a fact must hold, no matter who writes it and when. Payload,
// stamp and expiry are left out.
func (f Fact) stored() map[string]Typed {
	switch f.Type {
	case "line":
		return f.storedLine()
	case "coupon":
		return f.common()
	case "payment":
		return f.storedPayment()
	case "shelf":
		return f.storedShelf()
	}
	escape := func(s string) string { return strings.ReplaceAll(s, "#", "%23") }
	all := f.common()
	all["amount"], all["present"] = Typed{"N", strconv.FormatInt(f.Cents, 10)}, Typed{"BOOL", strconv.FormatBool(f.Gift)}
	if f.Type == "parcel" {
		all["revision"], all["i:revision"] = Typed{"N", strconv.FormatInt(f.Rev, 10)}, Typed{"S", f.tie()}
		all["GSI2PK"], all["GSI2SK"] = Typed{"S", escape(f.Merchant)}, Typed{"S", "parcel"}
	}
	if f.Customer == "" {
		return all
	}
	all["buyer"], all["GSI1PK"], all["GSI1SK"] = Typed{"S", f.Customer}, Typed{"S", "CUSTOMER#" + escape(f.Customer)}, all["at"]
	if f.Type == "order" {
		all["GSI1SK"] = Typed{"S", escape(f.Merchant) + "#" + f.ID}
	}
	return all
}

// common returns what the items of all types must hold. That of a coupon, which is a claim, holds
// nothing else.
func (f Fact) common() map[string]Typed {
	digest := f.Digest()
	return map[string]Typed{"PK": {"S", f.PK()}, "SK": {"S", f.SK()}, "type": {"S", f.Type}, "id": {"S", f.ID},
		"at": {"S", f.Time().UTC().Format("2006-01-02T15:04:05.000000000Z")}, "digest": {"B", string(digest[:])}}
}

func (f Fact) PK() string { return strings.ToUpper(f.Type) + "#" + f.ID }

func (f Fact) SK() string { return strings.ToUpper(f.Type) }

// Digest returns the SHA-256 of type and payload in canonical form. encoding/json orders the
// members of a map by name. The texts of a world hold nothing that encoding/json escapes in another
// way.
func (f Fact) Digest() [sha256.Size]byte {
	switch f.Type {
	case "line":
		return f.digestLine()
	case "coupon":
		return f.digestCoupon()
	case "shelf":
		return f.digestShelf()
	}
	payload := map[string]any{"type": f.Type, "id": f.ID, "merchant": f.Merchant, "cents": f.Cents, "at": f.At, "gift": f.Gift}
	if f.Customer != "" {
		payload["customer"] = f.Customer
	}
	if f.Type == "parcel" {
		payload["rev"] = f.Rev
	}
	if f.Note > 0 {
		payload["note"] = f.note()
	}
	if f.Type == "payment" {
		payload["order"] = f.After
	}
	if f.Ends != "" {
		payload["ends"] = f.Ends
	}
	if f.Lines != "" {
		lines := []map[string]int64{}
		for _, line := range f.LineFacts() {
			_, number := line.WholeID()
			lines = append(lines, map[string]int64{"line": atoi(number), "cents": line.Cents})
		}
		payload["lines"] = lines
	}
	if f.Shelves != "" {
		payload["shelves"] = f.shelves()
	}
	if f.Coupons != "" {
		coupons := []map[string]string{}
		for _, c := range f.CouponFacts() {
			coupons = append(coupons, map[string]string{"coupon": c.ID})
		}
		payload["coupons"] = coupons
	}
	text, _ := json.Marshal([]any{f.Type, payload}) // texts, numbers and booleans: Marshal cannot fail
	return sha256.Sum256(text)
}

// object returns what the archive must hold once the image has expired. That is canonical JSON in
// the stream's typed form, under a name made of the key and the digest.
//
// If asStored is set, a payload that is in the payload bucket is left out.
func (i *Image) object(digest string, asStored bool) Object {
	key := sha256.Sum256(Framed(i.PK, i.SK))
	body := make([]byte, 0, 1024)
	body = append(body, '{')
	for _, name := range slices.Sorted(maps.Keys(i.Whole)) {
		kind, text := KindOf(i.Whole[name]), ValueOf(i.Whole[name])
		if name == "i:payload" && !asStored {
			continue
		}
		if name == "data" && !asStored {
			kind, text = "S", i.Data // the form that code has which can read it; see newForm
		}
		if len(body) > 1 {
			body = append(body, ',')
		}
		body = append(append(append(append(body, '"'), name...), `":{"`...), kind...)
		body = append(body, `":`...)
		switch kind {
		case "BOOL":
			body = append(body, text...)
		case "B":
			body = strconv.AppendQuote(body, base64.StdEncoding.EncodeToString([]byte(text)))
		default:
			body = strconv.AppendQuote(body, text) // in JSON form, because the texts of a world are printable ASCII
		}
		body = append(body, '}')
	}
	return Object{"expired/" + hex.EncodeToString(key[:]) + "/" + hex.EncodeToString([]byte(digest)) + ".json", string(append(body, '}'))}
}

// note returns the text of a note.
func (f Fact) note() string { return strings.Repeat("fragile; ", f.Note) }

// unpacker reads zstd. It is not the code that wrote it.
var unpacker, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)) // without a source there is no error

const ZstdMagic = "\x28\xb5\x2f\xfd"

// Unpack returns the text of a payload that is stored in bytes: compressed, or in the form of
// [newForm].
func Unpack(data string) (text string, packed bool) {
	if !strings.HasPrefix(data, ZstdMagic) {
		return data, false
	}
	out, err := unpacker.DecodeAll([]byte(data), nil)
	if err != nil {
		return "", true // no payload reads like this
	}
	return string(out), true
}
