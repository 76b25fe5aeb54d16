package scenario

import (
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/plan/lanes"
)

// expression turns an update's expressions back into words.
type expression struct {
	names  *names
	named  map[string]string
	values attributes
	said   []string
}

type clause struct {
	word  string
	parts []string
}

// clauses splits an update expression. Placeholders stand for all names and values, so its words
// cannot occur in them.
func clauses(update string) (list []clause) {
	for _, word := range strings.Fields(update) {
		switch word {
		case "ADD", "SET", "REMOVE":
			list = append(list, clause{word: word})
			continue
		}
		last := &list[len(list)-1]
		if n := len(last.parts); n > 0 &&
			(!strings.HasSuffix(last.parts[n-1], ",") || strings.Count(last.parts[n-1], "(") > strings.Count(last.parts[n-1], ")")) {
			last.parts[n-1] += " " + word
			continue
		}
		last.parts = append(last.parts, word)
	}
	for _, c := range list {
		for i := range c.parts {
			c.parts[i] = strings.TrimSuffix(c.parts[i], ",")
		}
	}
	return list
}

func (e *expression) say(format string, args ...any) {
	e.said = append(e.said, fmt.Sprintf(format, args...))
}

func (e *expression) clause(word string, parts []string) {
	for _, part := range parts {
		fields := strings.Fields(part)
		name, value := fields[0], e.values[fields[len(fields)-1]]
		if real, ok := e.named[name]; ok {
			name = real
		}
		switch word {
		case "ADD":
			e.add(name, text(value))
		case "SET":
			e.assign(name, value)
		case "REMOVE":
			if name == "open" {
				e.say("the pass is closed")
				continue
			}
			e.say("mark of %s pruned", e.names.lanes[name])
		}
	}
}

func (e *expression) add(name, by string) {
	if !strings.HasPrefix(by, "-") {
		by = "+" + by
	}
	if name == "fp" || name == "fpx" {
		if strings.Trim(by, "+-0") == "" {
			return
		}
		by = short(by, 5)
	}
	e.say("%s %s", name, by)
}

func (e *expression) assign(name string, value types.AttributeValue) {
	switch {
	case name == "expiresAt":
	case name == "i:large":
		e.say("it is said to be large")
	case name == "flag":
		e.say("flag set")
	case strings.HasPrefix(name, lanes.MarkPrefix):
		mark, _ := value.(*types.AttributeValueMemberB)
		first, _ := e.values[":first"].(*types.AttributeValueMemberB)
		e.say("mark %s if below %s", e.names.mark(mark.Value), e.names.mark(first.Value))
	default:
		e.say("%s = %s", name, text(value))
	}
}

// condition reports the values that stay as they are because they are beyond the new ones.
func (e *expression) condition(condition string) {
	for _, part := range strings.Split(condition, " AND ") {
		fields := strings.Fields(part)
		if len(fields) == 3 && (fields[1] == ">=" || fields[1] == "<=") {
			e.say("%s stays if %s %s", e.named[fields[0]], fields[1], text(e.values[fields[2]]))
		}
	}
}
