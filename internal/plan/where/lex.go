package where

import (
	"cmp"
	"fmt"
	"strings"
)

// tokenKind says what a piece of a condition is.
type tokenKind uint8

const (
	endToken    tokenKind = iota
	wordToken             // a path or one of the words and, or, not, in, exists, true, false
	numberToken           // a JSON number
	textToken             // quoted text; token.text is the text without quotes and escapes
	opToken               // = != < <= > >=
	openToken             // (
	closeToken            // )
	commaToken            // ,
)

// token is a piece of a condition.
type token struct {
	kind   tokenKind
	text   string
	offset int
}

// String returns the token as messages show it.
func (t token) String() string {
	switch t.kind {
	case endToken:
		return "the end"
	case textToken:
		return fmt.Sprintf("the text %q", t.text)
	}
	return t.text
}

// foreign maps operators of other languages to operators of conditions.
var foreign = map[string]string{"==": "=", "<>": "!=", "&&": "and", "||": "or", "!": "not", "=<": "<=", "=>": ">="}

// lex cuts a condition into tokens. The last one is an endToken.
func lex(s string) ([]token, *Mistake) {
	var tokens []token
	for i := 0; ; {
		for i < len(s) && isSpace(s[i]) {
			i++
		}
		if i == len(s) {
			return append(tokens, token{kind: endToken, offset: i}), nil
		}
		t, next, bad := lexOne(s, i)
		if bad != nil {
			return nil, bad
		}
		tokens, i = append(tokens, t), next
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// lexOne reads the token that begins at i, which is not a space.
func lexOne(s string, i int) (token, int, *Mistake) {
	switch c := s[i]; {
	case c == '(':
		return token{openToken, "(", i}, i + 1, nil
	case c == ')':
		return token{closeToken, ")", i}, i + 1, nil
	case c == ',':
		return token{commaToken, ",", i}, i + 1, nil
	case strings.IndexByte("=!<>&|~", c) >= 0:
		return lexOperator(s, i)
	case c == '"' || c == '\'':
		return lexText(s, i)
	case c == '-' || c >= '0' && c <= '9':
		end := endOfWord(s, i)
		return token{numberToken, s[i:end], i}, end, nil
	}
	end := endOfWord(s, i)
	return token{wordToken, s[i:end], i}, end, nil
}

func lexOperator(s string, i int) (token, int, *Mistake) {
	end := i
	for end < len(s) && end < i+2 && strings.IndexByte("=!<>&|~", s[end]) >= 0 {
		end++
	}
	switch op := s[i:end]; op {
	case "=", "!=", "<", "<=", ">", ">=":
		return token{opToken, op, i}, end, nil
	default:
		return token{}, 0, &Mistake{Offset: i, What: op + " is not an operator", Instead: cmp.Or(foreign[op], "one of = != < <= > >=")}
	}
}

// lexText reads quoted text. A backslash may stand before the quote or before another backslash.
// There are no other escapes.
func lexText(s string, i int) (token, int, *Mistake) {
	var b strings.Builder
	for j := i + 1; j < len(s); j++ {
		switch {
		case s[j] == s[i]:
			return token{textToken, b.String(), i}, j + 1, nil
		case s[j] == '\\':
			j++
			if j == len(s) || s[j] != s[i] && s[j] != '\\' {
				instead := `\\`
				if j < len(s) && strings.IndexByte("nrtu", s[j]) >= 0 {
					instead = "the character itself"
				}
				return token{}, 0, &Mistake{Offset: j - 1, What: "a backslash stands only before a quote or a backslash", Instead: instead}
			}
		}
		b.WriteByte(s[j])
	}
	return token{}, 0, &Mistake{Offset: i, What: "the text that begins here has no closing quote", Instead: "a closing quote where it ends"}
}

// endOfWord returns where the word at i ends: at white space, an operator, a comma, a parenthesis
// or a quote. It skips brackets, with the quoted names in them, as a whole.
func endOfWord(s string, i int) int {
	for i < len(s) {
		switch c := s[i]; {
		case c == '[':
			i = endOfBracket(s, i)
			continue
		case isSpace(c) || strings.IndexByte("()=!<>&|~,'\"", c) >= 0:
			return i
		}
		i++
	}
	return i
}

func endOfBracket(s string, i int) int {
	quoted := false
	for i++; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ']' && !quoted:
			return i + 1
		}
	}
	return len(s)
}
