package value

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// digester hashes a sequence of texts. Each text is preceded by its length, so two different
// sequences never hash the same bytes.
type digester struct{ h hash.Hash }

func newDigester() *digester { return &digester{sha256.New()} }

func (d *digester) part(s string) {
	d.h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(s))))
	d.h.Write([]byte(s))
}

// text hashes a tag and optional texts. A text that is absent differs from one that is empty.
func (d *digester) text(tag string, texts ...*string) {
	d.part(tag)
	for _, s := range texts {
		if s == nil {
			d.part("absent")
			continue
		}
		d.part("=" + *s)
	}
}

func (d *digester) value(v types.AttributeValue) {
	d.part(TypeName(v))
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		d.part(v.Value)
	case *types.AttributeValueMemberN:
		d.part(v.Value)
	case *types.AttributeValueMemberB:
		d.part(string(v.Value))
	case *types.AttributeValueMemberM:
		d.values(v.Value)
	case *types.AttributeValueMemberL:
		d.part(fmt.Sprint(len(v.Value)))
		for _, el := range v.Value {
			d.value(el)
		}
	case *types.AttributeValueMemberBOOL:
		d.part(fmt.Sprint(v.Value))
	case *types.AttributeValueMemberSS:
		d.part(fmt.Sprintf("%q", v.Value))
	case *types.AttributeValueMemberNS:
		d.part(fmt.Sprintf("%q", v.Value))
	case *types.AttributeValueMemberBS:
		d.part(fmt.Sprintf("%q", v.Value))
	}
}

func (d *digester) sum() [32]byte { return [32]byte(d.h.Sum(nil)) }

// TransactDigest returns the digest of a transaction. Two requests have the same digest only if
// they ask for the same.
func TransactDigest(items []types.TransactWriteItem) [32]byte {
	d := newDigester()
	for _, in := range items {
		switch {
		case in.Put != nil:
			p := in.Put
			d.text("put", p.TableName, p.ConditionExpression)
			d.values(p.Item)
			d.placeholders(p.ExpressionAttributeNames, p.ExpressionAttributeValues)
		case in.Update != nil:
			u := in.Update
			d.text("update", u.TableName, u.ConditionExpression, u.UpdateExpression)
			d.values(u.Key)
			d.placeholders(u.ExpressionAttributeNames, u.ExpressionAttributeValues)
		case in.Delete != nil:
			u := in.Delete
			d.text("delete", u.TableName, u.ConditionExpression)
			d.values(u.Key)
			d.placeholders(u.ExpressionAttributeNames, u.ExpressionAttributeValues)
		case in.ConditionCheck != nil:
			c := in.ConditionCheck
			d.text("check", c.TableName, c.ConditionExpression)
			d.values(c.Key)
			d.placeholders(c.ExpressionAttributeNames, c.ExpressionAttributeValues)
		}
	}
	return d.sum()
}

func (d *digester) values(m map[string]types.AttributeValue) {
	d.part(fmt.Sprint(len(m)))
	for _, name := range slices.Sorted(maps.Keys(m)) {
		d.part(name)
		d.value(m[name])
	}
}

func (d *digester) placeholders(names map[string]string, values map[string]types.AttributeValue) {
	d.part(fmt.Sprint(len(names)))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.part(name)
		d.part(names[name])
	}
	d.values(values)
}
