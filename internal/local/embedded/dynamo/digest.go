package dynamo

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/value"
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
	d.part(value.TypeName(v))
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
