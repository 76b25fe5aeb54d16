package sim

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// image is one image of the item of an event.
type image struct {
	fact
	pk, sk    string
	epoch     int64
	expiresAt int64
	data      string
	whole     map[string]streamtypes.AttributeValue
	inBytes   bool   // newer code wrote its payload, in a form that older code cannot read
	packed    bool   // its payload is compressed
	elsewhere *apart // nil: its payload is in the item
	barred    bool   // it bars the key of an erased event; its fact has only type and id
}

func (m *model) readImage(img map[string]streamtypes.AttributeValue) (*image, error) {
	if img == nil {
		return nil, nil
	}
	if bar := barredImage(img); bar != nil {
		return bar, nil
	}
	value := func(name string) string { return valueOf(img[name]) }
	out := &image{whole: img, pk: value("PK"), sk: value("SK"), data: value("data"), epoch: atoi(value("epoch")),
		expiresAt: atoi(value("expiresAt"))}
	if kindOf(img["data"]) == "B" {
		out.data, out.packed = unpack(out.data)
		out.inBytes = m.newForm
	}
	out.elsewhere, out.data = m.offloaded(value("i:payload"), out.data)
	var known bool
	if out.fact, known = m.read[out.data]; !known {
		var err error
		parse := read
		switch value("type") {
		case "line":
			parse = readLine
		case "coupon":
			parse = readCoupon
		}
		if out.fact, err = parse(out.data); err != nil {
			return nil, err
		}
		m.read[out.data] = out.fact
	}
	return out, nil
}

// digest returns the digest in hex.
func (img *image) digest() string { return hex.EncodeToString([]byte(valueOf(img.whole["digest"]))) }

// valueOf returns the value of an attribute as text, whether it is text, a number, bytes or a
// boolean.
func valueOf(v streamtypes.AttributeValue) string {
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

func kindOf(v streamtypes.AttributeValue) string {
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

// typed is the type and value that an attribute must have.
type typed struct{ kind, value string }

// stored returns what the item of a fact must hold, no matter who writes it and when. Payload,
// stamp and expiry are left out.
func (f fact) stored() map[string]typed {
	switch f.Type {
	case "line":
		return f.storedLine()
	case "coupon":
		return f.common()
	}
	escape := func(s string) string { return strings.ReplaceAll(s, "#", "%23") }
	all := f.common()
	all["amount"], all["present"] = typed{"N", strconv.FormatInt(f.Cents, 10)}, typed{"BOOL", strconv.FormatBool(f.Gift)}
	if f.Type == "parcel" {
		all["revision"], all["i:revision"] = typed{"N", strconv.FormatInt(f.Rev, 10)}, typed{"S", f.tie()}
		all["GSI2PK"], all["GSI2SK"] = typed{"S", escape(f.Merchant)}, typed{"S", "parcel"}
	}
	if f.Customer == "" {
		return all
	}
	all["buyer"], all["GSI1PK"], all["GSI1SK"] = typed{"S", f.Customer}, typed{"S", "CUSTOMER#" + escape(f.Customer)}, all["at"]
	if f.Type == "order" {
		all["GSI1SK"] = typed{"S", escape(f.Merchant) + "#" + f.ID}
	}
	return all
}

// common returns what the items of all types must hold. That of a coupon, which is a claim, holds
// nothing else.
func (f fact) common() map[string]typed {
	digest := f.digest()
	return map[string]typed{"PK": {"S", f.pk()}, "SK": {"S", f.sk()}, "type": {"S", f.Type}, "id": {"S", f.ID},
		"at": {"S", f.at().UTC().Format("2006-01-02T15:04:05.000000000Z")}, "digest": {"B", string(digest[:])}}
}

func (f fact) pk() string { return strings.ToUpper(f.Type) + "#" + f.ID }
func (f fact) sk() string { return strings.ToUpper(f.Type) }

// digest returns the SHA-256 of type and payload in canonical form. encoding/json orders the
// members of a map by name. The texts of a world hold nothing that encoding/json escapes in another
// way.
func (f fact) digest() [sha256.Size]byte {
	switch f.Type {
	case "line":
		return f.digestLine()
	case "coupon":
		return f.digestCoupon()
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
	if f.Lines != "" {
		lines := []map[string]int64{}
		for _, line := range f.lines() {
			_, number := line.wholeID()
			lines = append(lines, map[string]int64{"line": atoi(number), "cents": line.Cents})
		}
		payload["lines"] = lines
	}
	if f.Coupons != "" {
		coupons := []map[string]string{}
		for _, c := range f.coupons() {
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
func (i *image) object(digest string, asStored bool) object {
	key := sha256.Sum256(framed(i.pk, i.sk))
	body := make([]byte, 0, 1024)
	body = append(body, '{')
	for _, name := range sortedKeys(i.whole) {
		kind, text := kindOf(i.whole[name]), valueOf(i.whole[name])
		if name == "i:payload" && !asStored {
			continue
		}
		if name == "data" && !asStored {
			kind, text = "S", i.data // the form that code has which can read it; see newForm
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
	return object{"expired/" + hex.EncodeToString(key[:]) + "/" + hex.EncodeToString([]byte(digest)) + ".json", string(append(body, '}'))}
}
