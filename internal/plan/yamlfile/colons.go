package yamlfile

import (
	"strings"

	"github.com/goccy/go-yaml/token"
)

// joined puts a plain text such as AWS::Region together again. Inside brackets, the lexer takes it
// apart at the first colon, as if that stood between a name and a value.
func joined(all token.Tokens) (list token.Tokens) {
	var last *token.Token
	for i := 0; i < len(all); i++ {
		t := all[i]
		for i+2 < len(all) && split(t, all[i+1], all[i+2]) {
			t.Value += ":" + all[i+2].Value
			t.Origin += all[i+1].Origin + all[i+2].Origin
			i += 2
		}
		if t.Prev, t.Next = last, nil; last != nil {
			last.Next = t
		}
		list, last = append(list, t), t
	}
	return list
}

// split reports whether two texts with a colon between them are one, because the second begins with
// a colon and no space separates them.
func split(before, colon, after *token.Token) bool {
	next := func(a, b *token.Token, width int) bool {
		return a.Position.Line == b.Position.Line && a.Position.Column+width == b.Position.Column
	}
	return before.Type == token.StringType && colon.Type == token.MappingValueType && after.Type == token.StringType &&
		strings.HasPrefix(after.Value, ":") && next(before, colon, len([]rune(before.Value))) && next(colon, after, 1)
}
