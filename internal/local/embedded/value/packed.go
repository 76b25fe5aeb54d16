package value

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// A packed item holds its attributes as one string, in the form in which a journal keeps them. It
// needs a third of the memory, but each read of an attribute decodes it again.
//
// The form is the number of attributes, then each with its name, a letter for its type, and its
// value.

// Pack turns an item into a packed one. It must not be used on an item that others can see.
func (it *Item) Pack() {
	if it.packed != "" {
		return
	}
	size := 1
	for _, a := range it.Attrs {
		size += len(a.Name) + Size(a.Value) + 4
	}
	p := make(api.Packer, 0, size)
	p.Number(uint64(len(it.Attrs)))
	for _, a := range it.Attrs {
		p.Text(a.Name)
		packValue(&p, a.Value)
	}
	it.packed, it.Attrs = string(p), nil
}

// Packed returns the string of a packed item.
func (it *Item) Packed() string { return it.packed }

// Unpack returns the packed item of a string. pk and sk name the key attributes; sk may be empty.
func Unpack(packed, pk, sk string) (*Item, error) {
	it := &Item{packed: packed}
	return it, it.unpackKey(pk, sk)
}

// unpackKey sets the key and the size of a packed item.
func (it *Item) unpackKey(pk, sk string) error {
	u := api.Unpack(it.packed)
	for n := u.Number(); n > 0 && !u.Failed(); n-- {
		name := u.Text()
		it.Size += len(name)
		switch kind := u.Peek(); {
		case kind == 'S': // no value is allocated, because there are millions of items
			u.Byte()
			text := u.Text()
			it.Size += len(text)
			switch name {
			case pk:
				it.PK = text
			case sk:
				it.SK = text
			}
		case kind == 'N':
			u.Byte()
			it.Size += numberSize(u.Text())
		default:
			it.Size += Size(unpackValue(u))
		}
	}
	if err := u.Err(); err != nil {
		return fmt.Errorf("an item cannot be read: %w", err)
	}
	return nil
}

// attributes returns all attributes. The caller must not change them.
func (it *Item) attributes() []Attribute {
	if it.packed == "" {
		return it.Attrs
	}
	u := api.Unpack(it.packed)
	attrs := make([]Attribute, u.Number())
	for i := range attrs {
		attrs[i].Name = u.Text()
		attrs[i].Value = unpackValue(u)
	}
	return attrs
}

// packedValue returns one attribute of a packed item, or nil.
func (it *Item) packedValue(name string) types.AttributeValue {
	u := api.Unpack(it.packed)
	for range u.Number() {
		if u.Text() == name {
			return unpackValue(u)
		}
		skipValue(u)
	}
	return nil
}

func packValue(p *api.Packer, v types.AttributeValue) {
	kind := func(letter byte) { *p = append(*p, letter) }
	texts := func(list []string) {
		p.Number(uint64(len(list)))
		for _, s := range list {
			p.Text(s)
		}
	}
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		kind('S')
		p.Text(v.Value)
	case *types.AttributeValueMemberN:
		kind('N')
		p.Text(v.Value)
	case *types.AttributeValueMemberB:
		kind('B')
		p.Text(string(v.Value))
	case *types.AttributeValueMemberBOOL:
		if v.Value {
			kind('t')
		} else {
			kind('f')
		}
	case *types.AttributeValueMemberNULL:
		kind('0')
	case *types.AttributeValueMemberL:
		kind('L')
		p.Number(uint64(len(v.Value)))
		for _, el := range v.Value {
			packValue(p, el)
		}
	case *types.AttributeValueMemberM:
		kind('M')
		p.Number(uint64(len(v.Value)))
		for name, el := range v.Value {
			p.Text(name)
			packValue(p, el)
		}
	case *types.AttributeValueMemberSS:
		kind('s')
		texts(v.Value)
	case *types.AttributeValueMemberNS:
		kind('n')
		texts(v.Value)
	case *types.AttributeValueMemberBS:
		kind('b')
		p.Number(uint64(len(v.Value)))
		for _, el := range v.Value {
			p.Text(string(el))
		}
	}
}

func unpackValue(u *api.Unpacker) types.AttributeValue {
	texts := func() []string {
		n := u.Number()
		var list []string
		for range n {
			list = append(list, u.Text())
			if u.Failed() {
				break
			}
		}
		return list
	}
	switch kind := u.Byte(); kind {
	case 'S':
		return &types.AttributeValueMemberS{Value: u.Text()}
	case 'N':
		return &types.AttributeValueMemberN{Value: u.Text()}
	case 'B':
		return &types.AttributeValueMemberB{Value: []byte(u.Text())}
	case 't', 'f':
		return &types.AttributeValueMemberBOOL{Value: kind == 't'}
	case '0':
		return &types.AttributeValueMemberNULL{Value: true}
	case 'L':
		list := []types.AttributeValue{}
		for n := u.Number(); n > 0 && !u.Failed(); n-- {
			list = append(list, unpackValue(u))
		}
		return &types.AttributeValueMemberL{Value: list}
	case 'M':
		m := map[string]types.AttributeValue{}
		for n := u.Number(); n > 0 && !u.Failed(); n-- {
			name := u.Text()
			m[name] = unpackValue(u)
		}
		return &types.AttributeValueMemberM{Value: m}
	case 's':
		return &types.AttributeValueMemberSS{Value: texts()}
	case 'n':
		return &types.AttributeValueMemberNS{Value: texts()}
	case 'b':
		var list [][]byte
		for _, s := range texts() {
			list = append(list, []byte(s))
		}
		return &types.AttributeValueMemberBS{Value: list}
	default:
		u.Fail(fmt.Errorf("a value has the unknown type %q", kind))
		return &types.AttributeValueMemberNULL{Value: true}
	}
}

// skipValue passes over a value.
func skipValue(u *api.Unpacker) {
	switch kind := u.Byte(); kind {
	case 'S', 'N', 'B':
		u.Text()
	case 't', 'f', '0':
	case 'M':
		for n := u.Number(); n > 0 && !u.Failed(); n-- {
			u.Text()
			skipValue(u)
		}
	case 'L':
		for n := u.Number(); n > 0 && !u.Failed(); n-- {
			skipValue(u)
		}
	default:
		for n := u.Number(); n > 0 && !u.Failed(); n-- {
			u.Text()
		}
	}
}
