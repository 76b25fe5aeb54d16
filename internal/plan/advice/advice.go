// Package advice follows the advice of messages about YAML files, for tests: what a message tells
// the user to write must be accepted. [Alternatives] takes the texts to write from a message, and
// [Follow] writes one of them. Advice in words, such as "another name", is left out.
package advice

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// Text is a file after a piece of advice was followed.
type Text struct {
	Text string
	// Renamed says that a name was changed, so what is below it is read for the first time.
	Renamed bool
}

var (
	// around is what stands around the text to write.
	around = regexp.MustCompile(
		`^(one of|at least|at most) |,$|, with .*$| (beside|at the top|without quotes|in quotes|for that field|in the event types)\b.*$`)
	anExample = regexp.MustCompile(`(?:such as|as in) (.*)$`)
	aMember   = regexp.MustCompile(`^[a-z][A-Za-z_0-9]*: .`)
	aWord     = regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`)
	inNamed   = regexp.MustCompile(`^(.*) in ([a-z.]+)$`)
	inMember  = regexp.MustCompile(`^(\{[^}]*\}) in (pk|sk)$`)
	aKey      = regexp.MustCompile(` in (pk|sk)$`)
	aText     = regexp.MustCompile(
		`^["{[]|` + aMember.String() + `|` + aWord.String() + `|^(count|sum|min|max|newest|oldest|histogram|distinct)( |$)`)
	prose = regexp.MustCompile(
		`^(text|fewer|longer|nothing|spaces|[0-9]+ characters less.*|since: and .*|total: and .*|total: alone|read:)$|` +
			`…|PATH|^ingot: 1, | in a (sort )?key `)
)

const between = "a # between them"

// Alternatives returns the texts that a piece of advice says to write, each of which must be
// accepted. It leaves out words for people, such as "another name".
func Alternatives(instead string) []string {
	text := instead
	if strings.HasPrefix(text, "at: with ") {
		return nil // it goes beside the key, which is not at the place of the warning
	}
	if m := anExample.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	list := strings.Contains(text, "one of ") || strings.HasPrefix(text, `"`)
	for {
		shorter := around.ReplaceAllString(text, "")
		if shorter == text {
			break
		}
		text = shorter
	}
	var all []string
	key := aKey.FindString(text)
	for _, one := range splitOutside(text, list) {
		one = around.ReplaceAllString(strings.TrimSpace(one), "")
		if strings.HasPrefix(one, "{") && aKey.FindString(one) == "" {
			one += key // it is said once, behind the last
		}
		switch {
		case one == between || inMember.MatchString(one):
		case prose.MatchString(strings.Trim(one, `{}"`)) || !aText.MatchString(one):
			continue
		}
		all = append(all, one)
	}
	return all
}

// splitOutside cuts a text at "or", and at commas of a list, outside of quotes and brackets.
func splitOutside(text string, list bool) []string {
	var out []string
	depth, quote, start := 0, false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quote = !quote
		case quote:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], ", or "):
			out, start, i = append(out, text[start:i]), i+5, i+4
		case depth == 0 && strings.HasPrefix(text[i:], " or "):
			out, start, i = append(out, text[start:i]), i+4, i+3
		case depth == 0 && list && strings.HasPrefix(text[i:], ", "):
			out, start, i = append(out, text[start:i]), i+2, i+1
		}
	}
	return append(out, text[start:])
}

// Follow writes advice at a place of a file, in each way that it can be meant. It returns nothing
// if the advice cannot be written there, or if the file is not YAML.
func Follow(text string, at yamlfile.Position, advice string) (texts []Text) {
	for way := range ways {
		file, fault := yamlfile.Parse([]byte(text))
		if fault != nil || file.Root == nil || file.Second != nil {
			return nil
		}
		e := edit{at: at, advice: advice, way: way, isMember: aMember.MatchString(advice)}
		if named := inNamed.FindStringSubmatch(advice); e.isMember && named != nil {
			e.advice, e.named = named[1], named[2]
		}
		if e.visit(file.Root, nil); e.done {
			texts = append(texts, Text{Written(file.Root), e.renamed})
		}
	}
	return texts
}

// ways is how many ways there are to follow a piece of advice.
const ways = 8

// edit is one change of a tree.
type edit struct {
	at                      yamlfile.Position
	advice, named           string // named: the member that the advice goes into
	way                     int
	isMember, done, renamed bool
}

// visit looks for the place of the mistake in n. above are the mappings around it, the nearest
// last.
func (e *edit) visit(n *yamlfile.Node, above []*yamlfile.Node) {
	if n == nil || e.done {
		return
	}
	inside := append(slices.Clip(above), n)
	for i := range n.Members {
		one := &n.Members[i]
		if e.named != "" && one.Name == e.named && one.Value != nil && one.Value.Kind == yamlfile.Map {
			e.put(one.Value)
			return
		}
		if one.Line == e.at.Line && one.Column == e.at.Column {
			e.atName(one, inside)
		}
		e.visit(one.Value, inside)
	}
	for _, item := range n.Items {
		e.visit(item, inside)
	}
	end := n.Column
	if n.Kind == yamlfile.Text && n.Style != yamlfile.Block {
		end += len([]rune(n.Text)) + 1
	}
	if !e.done && n.Line == e.at.Line && n.Column <= e.at.Column && e.at.Column <= end {
		e.atValue(n, above)
	}
}

// atName follows advice about a name.
func (e *edit) atName(one *yamlfile.Member, above []*yamlfile.Node) {
	switch {
	case e.isMember && e.way == 0 && one.Value != nil && one.Value.Kind == yamlfile.Map:
		e.put(one.Value)
	case e.isMember && e.way == 0 && parsedAdvice(e.advice) != nil:
		member := parsedAdvice(e.advice).Members[0]
		one.Name, one.Value, e.done = member.Name, member.Value, true
	case e.isMember && e.way > 0:
		e.putAbove(above)
	case e.way == 0 && aWord.MatchString(strings.Trim(e.advice, `"`)):
		one.Name, e.done, e.renamed = strings.Trim(e.advice, `"`), true, true
	}
}

// atValue follows advice about a value, or about a place in a text.
func (e *edit) atValue(n *yamlfile.Node, above []*yamlfile.Node) {
	offset := e.at.Column - n.Column
	if n.Style == yamlfile.Quoted && offset > 0 {
		offset--
	}
	parsed := parsedAdvice(e.advice)
	part := inMember.FindStringSubmatch(e.advice)
	switch {
	case e.isMember && e.way == 0 && n.Kind == yamlfile.Map:
		e.put(n)
	case e.isMember && e.way > 0:
		e.putAbove(above)
	case e.isMember:
	case part != nil && e.way == 0 && n.Kind == yamlfile.Map:
		for i := range n.Members {
			if one := &n.Members[i]; one.Name == part[2] && one.Value.Kind == yamlfile.Text {
				one.Value.Text, e.done = one.Value.Text+"#"+part[1], true
			}
		}
	case part != nil || n.Kind == yamlfile.Text && n.Style == yamlfile.Block:
	case e.way == 0 && e.advice == between && n.Kind == yamlfile.Text:
		n.Text, e.done = n.Text[:offset]+"#"+n.Text[offset:], true
	case e.advice == between:
	case e.way == 1 && parsed != nil && offset == 0:
		*n = yamlfile.Node{Position: n.Position, Kind: parsed.Kind, Text: parsed.Text, Items: parsed.Items, Members: parsed.Members}
		e.done = true
	case e.way == 2 && n.Kind == yamlfile.Text && offset == 0:
		n.Text, e.done = e.advice, true
	case e.way == 3 && n.Kind == yamlfile.Text && offset < len(n.Text): // a variable, or a function in it
		start := offset
		advice := strings.Trim(e.advice, `"`)
		if before := strings.LastIndex(n.Text[:offset+1], "{"); strings.HasPrefix(advice, "{") && before >= 0 {
			start = before
		}
		end := start + len(regexp.MustCompile(`^(\{[^}]*\}?|[A-Za-z0-9_@.$:]+|\S+)`).FindString(n.Text[start:]))
		n.Text, e.done = n.Text[:start]+advice+n.Text[end:], true
	}
}

// putAbove sets members in one of the mappings around a place: the further out, the higher the way.
func (e *edit) putAbove(above []*yamlfile.Node) {
	if e.named != "" {
		return
	}
	if i := len(above) - e.way; i >= 0 && above[i].Kind == yamlfile.Map {
		e.put(above[i])
	}
}

// put sets the members of the advice in a mapping.
func (e *edit) put(into *yamlfile.Node) {
	from := parsedAdvice(e.advice)
	if from == nil {
		return
	}
	for _, one := range from.Members {
		i := slices.IndexFunc(into.Members, func(m yamlfile.Member) bool { return m.Name == one.Name })
		if i < 0 {
			into.Members = append(into.Members, one)
		} else {
			into.Members[i].Value = one.Value
		}
		e.done = true
	}
}

// parsedAdvice reads an advice: a value, or members as a mapping in braces has them.
func parsedAdvice(advice string) *yamlfile.Node {
	for _, text := range []string{advice, "{" + advice + "}"} {
		if file, fault := yamlfile.Parse([]byte(text)); fault == nil {
			return file.Root
		}
	}
	return nil
}

// Written returns a tree as YAML. A mapping of plain values is one line, and so is each member of
// any other mapping.
func Written(n *yamlfile.Node) string {
	var b strings.Builder
	write(&b, n)
	return b.String()
}

// write writes a tree as YAML.
func write(b *strings.Builder, n *yamlfile.Node) {
	switch {
	case n == nil || n.Kind == yamlfile.Null:
		b.WriteString("~")
	case n.Kind == yamlfile.Map:
		b.WriteString("{")
		for i, one := range n.Members {
			if i > 0 {
				b.WriteString("," + space(n))
			}
			fmt.Fprintf(b, "%s: ", quotedText(one.Name))
			write(b, one.Value)
		}
		b.WriteString("}")
	case n.Kind == yamlfile.List:
		b.WriteString("[")
		for i, item := range n.Items {
			if i > 0 {
				b.WriteString("," + space(n))
			}
			write(b, item)
		}
		b.WriteString("]")
	case n.Kind == yamlfile.Tagged:
		b.WriteString(n.Text + " ")
		write(b, n.Of)
	case n.Kind == yamlfile.Text:
		b.WriteString(quotedText(n.Text))
	default:
		b.WriteString(n.Text)
	}
}

// space returns what is written between the members of a mapping, or the items of a list.
func space(n *yamlfile.Node) string {
	inner := slices.Clone(n.Items)
	for _, m := range n.Members {
		inner = append(inner, m.Value)
	}
	if slices.ContainsFunc(inner, func(of *yamlfile.Node) bool { return !isPlain(of) }) {
		return "\n"
	}
	return " "
}

// isPlain reports whether n is a value without members, or a list of such values.
func isPlain(n *yamlfile.Node) bool {
	switch {
	case n == nil:
		return true
	case n.Kind == yamlfile.Tagged:
		return isPlain(n.Of)
	}
	return n.Kind != yamlfile.Map && !slices.ContainsFunc(n.Items, func(of *yamlfile.Node) bool { return !isPlain(of) })
}

func quotedText(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}
