package pipeline

import (
	"strings"

	"github.com/ingot-events/ingot/keys"
)

// canonicalTemplate returns a template in its one canonical spelling: {path|fn:arg} without spaces.
// It is empty for nil.
func canonicalTemplate(t *keys.Template) string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	for _, part := range t.Parts() {
		if !part.IsVariable() {
			b.WriteString(part.Literal)
			continue
		}
		b.WriteByte('{')
		b.WriteString(variable(part))
		for _, f := range part.Funcs {
			b.WriteByte('|')
			b.WriteString(f.Name)
			if f.Arg != "" {
				b.WriteString(":" + f.Arg)
			}
		}
		b.WriteByte('}')
	}
	return b.String()
}

func canonicalTemplates(list []*keys.Template) []string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = canonicalTemplate(t)
	}
	return texts
}

// canMake reports whether t can make the text name, which contains no # and no %. Each variable
// stands for one character or more.
func canMake(t *keys.Template, name string) bool {
	ends := map[int]bool{0: true} // the lengths of the beginnings of name that the parts so far can make
	for _, part := range t.Parts() {
		next := map[int]bool{}
		for from := range ends {
			if !part.IsVariable() {
				if strings.HasPrefix(name[from:], part.Literal) {
					next[from+len(part.Literal)] = true
				}
				continue
			}
			for to := from; to < len(name) && keepsCase(part, name[to:to+1]); to++ {
				next[to+1] = true
			}
		}
		ends = next
	}
	return ends[len(name)]
}

// keepsCase reports whether a variable's functions can return text. After lower, text cannot have a
// capital letter.
func keepsCase(p keys.Part, text string) bool {
	for _, f := range p.Funcs {
		if f.Name == "lower" && text != strings.ToLower(text) || f.Name == "upper" && text != strings.ToUpper(text) {
			return false
		}
	}
	return true
}
