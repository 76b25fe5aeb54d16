package rowmap

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/keys"
)

// Row is an item of the old table.
type Row = map[string]types.AttributeValue

// Mapped is what one row becomes.
type Mapped struct {
	Entry   int             // the entry of rows that takes it, from 0; -1: none does
	Type    string          // the event type
	Skip    string          // why it is not carried over, as the file says
	Items   []*event.Item   // its event, then the parts of that
	Refusal *event.Refusal  // why it cannot be carried over
	Payload json.RawMessage // the event's payload, also if it is refused
	Untaken []string        // the attributes that no template of the entry takes: its event has nothing of them
}

// Map computes what a row becomes. It is a pure function. The items are as the pipeline plans them:
// their epoch is the pipeline's, and an expiry is not compared with a clock.
func (m *Mapping) Map(row Row) Mapped {
	if row[itemform.Migrated] != nil { // it has come back, and the mark is not part of it
		row = maps.Clone(row)
		delete(row, itemform.Migrated)
	}
	text, err := appendObject(nil, row)
	if err != nil {
		return Mapped{Entry: -1, Refusal: event.Poisoned(event.WrongType, err.Error())}
	}
	doc, err := event.ParseDocument(string(text))
	if err != nil {
		return Mapped{Entry: -1, Refusal: event.RefusalOf(event.Poisoned(event.Undecodable, err.Error()))}
	}
	at := slices.IndexFunc(m.rows, func(r rowMap) bool { return r.where == nil || r.where.Holds(doc.Root()) })
	if at < 0 {
		return Mapped{Entry: -1, Refusal: event.Poisoned(event.UnknownType, "no entry of rows takes this row")}
	}
	r := &m.rows[at]
	mapped := Mapped{Entry: at, Type: r.typ, Skip: r.skip}
	if r.skip != "" {
		return mapped
	}
	if r.payload != nil {
		for name := range row {
			if !r.taken[name] {
				mapped.Untaken = append(mapped.Untaken, name)
			}
		}
		if text, err = appendMembers(nil, doc.Root(), r.payload); err == nil {
			doc, err = event.ParseDocument(string(text))
		}
		if err != nil {
			mapped.Refusal = event.RefusalOf(event.Poisoned(event.MissingField, err.Error()))
			return mapped
		}
	}
	mapped.Payload = json.RawMessage(doc.Text())
	item, err := m.pipeline.PlanEvent(event.Event{Type: r.typ, Data: doc})
	if err != nil {
		mapped.Refusal = event.RefusalOf(err)
		return mapped
	}
	mapped.Items = item.All()
	return mapped
}

// JSON writes a row as plain JSON: numbers exactly, sets as sorted arrays, binary as base64.
func JSON(row Row) ([]byte, error) { return appendObject(nil, row) }

// appendMembers writes an object that templates make of a document.
func appendMembers(dst []byte, root event.Node, members []member) ([]byte, error) {
	dst = append(dst, '{')
	for _, m := range members {
		var value string
		if m.path.IsZero() {
			text, err := m.template.Plain(&keys.Source{Data: root})
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
			value = event.Quote(text)
		} else if n := root.At(m.path); n.Exists() {
			value = n.Raw()
		} else {
			continue
		}
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, event.Quote(m.name)...), ':')
		dst = append(dst, value...)
	}
	return append(dst, '}'), nil
}

// appendObject writes a row, or a map in one, as JSON: numbers exactly, sets as sorted arrays,
// binary as base64.
func appendObject(dst []byte, row Row) ([]byte, error) {
	dst = append(dst, '{')
	for i, name := range slices.Sorted(maps.Keys(row)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, event.Quote(name)...), ':')
		var err error
		if dst, err = appendValue(dst, row[name]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return append(dst, '}'), nil
}

func appendValue(dst []byte, v types.AttributeValue) ([]byte, error) {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return append(dst, event.Quote(v.Value)...), nil
	case *types.AttributeValueMemberN:
		return append(dst, v.Value...), nil
	case *types.AttributeValueMemberBOOL:
		return fmt.Append(dst, v.Value), nil
	case *types.AttributeValueMemberNULL:
		return append(dst, "null"...), nil
	case *types.AttributeValueMemberB:
		return append(dst, event.Quote(base64.StdEncoding.EncodeToString(v.Value))...), nil
	case *types.AttributeValueMemberM:
		return appendObject(dst, v.Value)
	case *types.AttributeValueMemberL:
		return appendList(dst, v.Value)
	case *types.AttributeValueMemberSS:
		return appendTexts(dst, v.Value, event.Quote), nil
	case *types.AttributeValueMemberBS:
		list := make([]string, len(v.Value))
		for i, b := range v.Value {
			list[i] = base64.StdEncoding.EncodeToString(b)
		}
		return appendTexts(dst, list, event.Quote), nil
	case *types.AttributeValueMemberNS:
		return appendNumbers(dst, v.Value)
	}
	return nil, fmt.Errorf("%T is not a value that DynamoDB stores", v)
}

func appendList(dst []byte, list []types.AttributeValue) ([]byte, error) {
	dst = append(dst, '[')
	for i, v := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendValue(dst, v); err != nil {
			return nil, fmt.Errorf("[%d]: %w", i, err)
		}
	}
	return append(dst, ']'), nil
}

// appendTexts writes a set as a sorted array.
func appendTexts(dst []byte, set []string, quote func(string) string) []byte {
	written := make([]string, len(set))
	for i, text := range slices.Sorted(slices.Values(set)) {
		written[i] = quote(text)
	}
	return append(append(append(dst, '['), strings.Join(written, ",")...), ']')
}

// appendNumbers writes a set of numbers, by their size.
func appendNumbers(dst []byte, set []string) ([]byte, error) {
	type number struct {
		text  string
		value event.Decimal
	}
	list := make([]number, len(set))
	for i, text := range set {
		value, err := event.ParseDecimal(text)
		if err != nil {
			return nil, err
		}
		list[i] = number{text, value}
	}
	slices.SortFunc(list, func(a, b number) int { return cmp.Or(a.value.Cmp(b.value), strings.Compare(a.text, b.text)) })
	dst = append(dst, '[')
	for i, n := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, n.text...)
	}
	return append(dst, ']'), nil
}
