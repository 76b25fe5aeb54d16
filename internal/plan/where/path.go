package where

import (
	"strings"

	"github.com/ingot-events/ingot/event"
)

// Mistake says what is wrong with a text at a place in it. Offset is that place, in bytes.
type Mistake struct {
	Offset  int
	What    string
	Instead string // what to write; may be empty
}

// Error says what is wrong and what to write.
func (m *Mistake) Error() string {
	if m.Instead == "" {
		return m.What
	}
	return m.What + "; write " + m.Instead
}

// APath says what to write if a path is expected and nothing more specific is known.
const APath = "a path such as customer.city or items[0].sku"

// Path reads a path of the payload. It refuses JSONPath, because $ is the name of a field here.
func Path(text string) (event.Path, *Mistake) { return read(text, event.ParsePath, APath) }

// Every is [Path] for a path that may lead to several values. example says what to write if nothing
// more specific is known.
func Every(text, example string) (event.Path, *Mistake) { return read(text, event.ParseEvery, example) }

func read(text string, parse func(string) (event.Path, error), example string) (event.Path, *Mistake) {
	if bad := JSONPath(text); bad != nil {
		return event.Path{}, bad
	}
	path, err := parse(text)
	if err != nil {
		inside, end := strings.CutSuffix(strings.TrimPrefix(text, "{"), "}")
		if _, bad := parse(inside); bad == nil && end && strings.HasPrefix(text, "{") {
			return event.Path{}, &Mistake{What: text + " has braces, which only templates have", Instead: inside}
		}
		return event.Path{}, &Mistake{What: err.Error(), Instead: example}
	}
	return path, nil
}

// JSONPath returns a mistake for text that begins as a JSONPath does, and nil for any other text. A
// field whose name is $ is written ["$"].
func JSONPath(text string) *Mistake {
	if text != "$" && !strings.HasPrefix(text, "$.") && !strings.HasPrefix(text, "$[") {
		return nil
	}
	plain := strings.TrimPrefix(strings.TrimPrefix(text, "$"), ".")
	if _, err := event.ParsePath(plain); err != nil {
		plain = APath
	}
	return &Mistake{What: text + " is a JSONPath, and $ would be a field of that name: paths begin at the payload", Instead: plain}
}

// CutNumber returns the path in number(PATH), which reads a number that may be in quotes. ok is
// false for any other text, which is returned as it is.
func CutNumber(text string) (path string, ok bool) {
	if inner, is := strings.CutPrefix(text, "number("); is && strings.HasSuffix(inner, ")") {
		return strings.TrimSpace(strings.TrimSuffix(inner, ")")), true
	}
	return text, false
}
