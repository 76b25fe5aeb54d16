package explain

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/ingot-events/ingot/event"
)

// place says where in the file a body is not JSON, if the body is the file. The detail counts
// bytes, as quarantine's note does, but an editor counts lines and columns. place says nothing
// about a body inside a batch, because its lines are not the file's.
func (x *Explanation) place(m *Message) {
	var syntax *event.SyntaxError
	if !m.bare {
		return
	}
	if _, err := event.ParseDocument(m.Body); !errors.As(err, &syntax) || syntax.Offset > len(m.Body) {
		return
	}
	x.Line, x.Column = lineAndColumn(m.Body, syntax.Offset)
	x.Line += max(0, m.line-1)
	before, rest := m.Body[:syntax.Offset], m.Body[syntax.Offset:]
	if _, err := event.ParseDocument(before); err == nil && (strings.HasPrefix(rest, "{") || strings.HasPrefix(rest, "[")) {
		x.Advice = oneEvent
	}
}

// oneEvent is the advice for several events that do not each have their own line.
const oneEvent = "a second JSON value begins there; write each event on a line of its own"

// lineAndColumn returns the place of a byte. Both numbers count from 1, and columns count
// characters.
func lineAndColumn(text string, offset int) (line, column int) {
	before := text[:offset]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}
