package pipeline

import (
	"strings"

	"github.com/ingot-events/ingot/keys"
)

// canonicalTemplate is a template in its one canonical spelling: {path|fn:arg} without spaces. It is empty
// for nil.
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
