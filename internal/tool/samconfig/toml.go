package samconfig

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// maxConfig bounds a samconfig.toml, in bytes.
const maxConfig = 1 << 20

// tomlReader makes nodes from TOML. Tables are maps; all other values are scalars and lists.
type tomlReader struct {
	text   []byte
	parser unstable.Parser
}

// ReadTOML reads a file of tables. Values that no rule reads, such as dates, become scalars with
// their text. The error is a [*template.SyntaxError].
func ReadTOML(text []byte) (*template.Node, error) {
	r := &tomlReader{text: text}
	if len(text) > maxConfig {
		return nil, r.fault(0, fmt.Sprintf("not TOML: the file has %d bytes, and at most %d are read", len(text), maxConfig),
			"a file that SAM reads")
	}
	if !utf8.Valid(text) {
		return nil, r.fault(0, "not TOML: the file is not UTF-8; save it as UTF-8", "")
	}
	root := &template.Node{Kind: template.Map, Position: template.Position{Line: 1, Column: 1}}
	table := root
	r.parser.Reset(text)
	for r.parser.NextExpression() {
		e := r.parser.Expression()
		var err error
		switch e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, err = r.table(root, e.Key(), e.Kind == unstable.ArrayTable)
		case unstable.KeyValue:
			err = r.pair(table, e)
		}
		if err != nil {
			return nil, err
		}
	}
	var bad *unstable.ParserError
	if err := r.parser.Error(); errors.As(err, &bad) {
		return nil, r.fault(r.offset(bad.Highlight), "not TOML: "+bad.Message, "what TOML has there, such as key = \"text\"")
	} else if err != nil {
		return nil, r.fault(0, "not TOML: "+err.Error(), "what TOML has there, such as key = \"text\"")
	}
	return root, nil
}

func (r *tomlReader) offset(part []byte) int {
	if len(part) == 0 {
		return len(r.text)
	}
	return int(r.parser.Range(part).Offset)
}

func (r *tomlReader) fault(offset int, what, instead string) error {
	return &template.SyntaxError{Position: r.position(offset), What: what, Instead: instead}
}

func (r *tomlReader) position(offset int) template.Position {
	before := r.text[:min(offset, len(r.text))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return template.Position{Line: 1 + bytes.Count(before, []byte("\n")), Column: 1 + utf8.RuneCount(before[line:])}
}

// table returns the table that a heading opens. An earlier heading may have opened a part of it.
func (r *tomlReader) table(root *template.Node, key unstable.Iterator, listed bool) (*template.Node, error) {
	table := root
	for key.Next() {
		next, err := r.inside(table, key.Node(), listed && key.IsLast())
		if err != nil {
			return nil, err
		}
		table = next
	}
	return table, nil
}

// inside returns the table called key in another table. If there is a list of such tables, it
// returns a new one.
func (r *tomlReader) inside(table *template.Node, key *unstable.Node, listed bool) (*template.Node, error) {
	at := r.position(int(key.Raw.Offset))
	if m := table.Member(string(key.Data)); m != nil && !listed {
		if m.Value.Kind != template.Map {
			return nil,
				&template.SyntaxError{Position: at, What: fmt.Sprintf("not TOML: %s is already declared on line %d", m.Name, m.Line),
					Instead: "one of the two"}
		}
		return m.Value, nil
	}
	next := &template.Node{Kind: template.Map, Position: at}
	table.Members = append(table.Members, template.Member{Position: at, Name: string(key.Data), Value: next})
	return next, nil
}

// pair writes a key and its value into a table. The key may contain dots.
func (r *tomlReader) pair(table *template.Node, e *unstable.Node) error {
	keys := e.Key()
	for keys.Next() {
		key := keys.Node()
		if !keys.IsLast() {
			next, err := r.inside(table, key, false)
			if err != nil {
				return err
			}
			table = next
			continue
		}
		at := r.position(int(key.Raw.Offset))
		if m := table.Member(string(key.Data)); m != nil {
			return &template.SyntaxError{Position: at, What: fmt.Sprintf("not TOML: %s is already declared on line %d", m.Name, m.Line),
				Instead: "one of the two"}
		}
		value, err := r.value(e.Value(), at)
		if err != nil {
			return err
		}
		table.Members = append(table.Members, template.Member{Position: at, Name: string(key.Data), Value: value})
	}
	return nil
}

// value returns a value whose key stands at at.
func (r *tomlReader) value(n *unstable.Node, at template.Position) (*template.Node, error) {
	switch n.Kind {
	case unstable.Array:
		list := &template.Node{Kind: template.List, Position: at}
		for items := n.Children(); items.Next(); {
			item, err := r.value(items.Node(), at)
			if err != nil {
				return nil, err
			}
			list.Items = append(list.Items, item)
		}
		return list, nil
	case unstable.InlineTable:
		table := &template.Node{Kind: template.Map, Position: at}
		for pairs := n.Children(); pairs.Next(); {
			if err := r.pair(table, pairs.Node()); err != nil {
				return nil, err
			}
		}
		return table, nil
	case unstable.String:
		if n.Raw.Length > 0 {
			at = r.position(int(n.Raw.Offset))
		}
	}
	return &template.Node{Kind: template.Scalar, Position: at, Text: string(n.Data)}, nil
}
