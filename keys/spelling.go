package keys

import (
	"slices"
	"strconv"
	"strings"
)

// Canonical returns the template in its one canonical spelling: {path|fn:arg} without spaces. It is
// empty for nil.
func (t *Template) Canonical() string {
	if t == nil {
		return ""
	}
	var b strings.Builder
	for i := range t.parts {
		part := &t.parts[i]
		if !part.IsVariable() {
			b.WriteString(part.Literal)
			continue
		}
		b.WriteString(part.Canonical())
	}
	return b.String()
}

// Canonical returns a variable in the same spelling.
func (p *Part) Canonical() string {
	text := "{" + p.Variable()
	for _, f := range p.Funcs {
		text += "|" + f.Name
		if f.Arg != "" {
			text += ":" + f.Arg
		}
	}
	return text + "}"
}

// CanMake reports whether the template can make the text name, which contains no # and no %. Each
// variable stands for one character or more.
func (t *Template) CanMake(name string) bool {
	ends := map[int]bool{0: true} // the lengths of the beginnings of name that the parts so far can make
	for i := range t.parts {
		part := &t.parts[i]
		next := map[int]bool{}
		for from := range ends {
			if !part.IsVariable() {
				if strings.HasPrefix(name[from:], part.Literal) {
					next[from+len(part.Literal)] = true
				}
				continue
			}
			for to := from + 1; to <= len(name); to++ {
				if part.canReturn(name[from:to]) {
					next[to] = true
				}
			}
		}
		ends = next
	}
	return ends[len(name)]
}

// canReturn reports whether a variable can become text by its functions. The last of them decide: a
// hash, a time or a number says all about its characters, and text is in the case that was set
// last.
func (p *Part) canReturn(text string) bool {
	cased, cut := false, false
	for _, f := range slices.Backward(p.Funcs) {
		of := f.Function()
		n, _ := strconv.Atoi(f.Arg)
		switch {
		case of.keeps == keepsSense:
			return true
		case of.keeps == keepsOtherCase && cased, of.keeps == keepsPart:
		case of.keeps != keepsNothing:
			if of.shape(text, n) != "" {
				return false
			}
			cased, cut = cased || of.keeps == keepsOtherCase, cut || of.keeps == keepsBeginning
		case of.Hash:
			digits := of.digits
			if of.most > 0 && n > 0 {
				digits = n
			}
			plain := text
			if cased {
				plain = strings.ToLower(text)
			}
			return (cut || len(text) == digits) && len(text) <= digits && strings.Trim(plain, "0123456789abcdef") == ""
		default: // a time or a number
			return strings.Trim(strings.ToUpper(text), "0123456789-:.TZ") == ""
		}
	}
	return true
}
