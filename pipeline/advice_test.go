package pipeline

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/plan/advice"
	"github.com/ingot-events/ingot/internal/plan/yamlfile"
)

// advised holds every text with mistakes that a test of this package has loaded.
var advised struct {
	mu    sync.Mutex
	texts []string
}

// TestMain runs the tests, and then follows the advice of every message that they got from
// [loadText]: what a message tells the user to write must be accepted.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		refused, followed := refusedAdvice(advised.texts)
		for _, one := range refused {
			fmt.Println("the advice was followed, and is refused: " + one)
			code = 1
		}
		if all := flag.Lookup("test.run").Value.String() == ""; all && followed < leastFollowed {
			fmt.Printf("only %d pieces of advice were followed, want %d\n", followed, leastFollowed)
			code = 1
		}
	}
	os.Exit(code)
}

// leastFollowed is how many pieces of advice a run of all tests follows.
const leastFollowed = 230

// maxAtOnce is how many mistakes a text may have. If there are more, one may hide another.
const maxAtOnce = 5

// refusedAdvice follows each piece of advice about each text. It returns those that are refused,
// and how many could be followed.
func refusedAdvice(texts []string) (refused []string, followed int) {
	seen := map[string]bool{}
	for _, text := range texts {
		before, _ := mistakesOf(text)
		if len(before) > maxAtOnce {
			continue
		}
		for _, m := range before {
			for _, write := range advice.Alternatives(m.Instead) {
				key := m.What + write
				results := follow(text, m, write)
				if seen[key] || len(results) == 0 {
					continue
				}
				seen[key] = true
				followed++
				if !slices.ContainsFunc(results, func(r result) bool { return r.accepted(before, m) }) {
					refused = append(refused, fmt.Sprintf("%s\n  write %s, and then: %v", m, write, results[0].mistakes))
				}
			}
		}
	}
	return refused, followed
}

// result is a text after a piece of advice was followed.
type result struct {
	text     string
	mistakes Mistakes
	renamed  bool // a name was changed, so what is below it is read for the first time
	// compiled and compiles say whether the text before and the text after have no mistakes.
	compiled, compiles bool
}

// accepted reports whether a mistake is gone. Other mistakes may come to light, but not at the same
// place, and not one whose own advice brings the first mistake back. A file without mistakes may
// have warnings.
func (r result) accepted(before Mistakes, gone Mistake) bool {
	switch {
	case has(r.mistakes, gone):
		return false
	case r.compiles && !r.compiled:
		return true
	}
	for _, m := range r.mistakes {
		if has(before, m) {
			continue
		}
		if m.Where == gone.Where && !r.renamed {
			return false
		}
		for _, write := range advice.Alternatives(m.Instead) {
			next := follow(r.text, m, write)
			if len(next) > 0 && !slices.ContainsFunc(next, func(r result) bool { return !has(r.mistakes, gone) }) {
				return false
			}
		}
	}
	return true
}

func has(list Mistakes, m Mistake) bool {
	return slices.ContainsFunc(list, func(other Mistake) bool { return other.What == m.What && other.Where == m.Where })
}

// mistakesOf returns the mistakes of a text, or its warnings if there are none.
func mistakesOf(text string) (ms Mistakes, compiles bool) {
	p, err := loadQuietly(text)
	if err == nil {
		return p.Describe().Warnings, true
	}
	errors.As(err, &ms)
	return ms, false
}

// follow writes advice at the place of a mistake, in each way that it can be meant.
func follow(text string, m Mistake, write string) (results []result) {
	_, compiled := mistakesOf(text)
	for _, one := range advice.Follow(text, yamlfile.Position{Line: m.Line, Column: m.Column}, write) {
		after, compiles := mistakesOf(one.Text)
		results = append(results, result{one.Text, after, one.Renamed, compiled, compiles})
	}
	return results
}

// said is a file without mistakes. Each case of the test below makes one in it.
const said = `ingot: 1
epoch: 1
type: order
events:
  order:
    id: "{order}"
    at: "{at}"
    key: {pk: "ORDER#{order}", sk: "-"}
aggregates:
  all:
    since: 1
    by: {shop: "{shop}"}
    from:
      order: {values: {orders: count, cents: sum total}}
`

const hashText = `[0-9a-f]{64}`

// Advice is not only accepted: what it says to write does what was meant. It is taken from the
// message and written into the file, and then an event is planned.
func TestAdviceDoesWhatIsMeant(t *testing.T) {
	const id, key, values = `id: "{order}"`, `{pk: "ORDER#{order}", sk: "-"}`, `{orders: count, cents: sum total}`
	for _, c := range []struct {
		name, old, new string // the mistake
		nth            int    // of the alternatives
		more           string // fields of the event
		want           string // a regular expression: its key, and what it adds
	}{
		{"an id that loses a part", id, `id: "{order | upper}#{shop}"`, 0, "", `ORDER#A-1 / -`},
		{"an id that loses a part of what it hides", id + "\n    at: \"{at}\"\n    key: " + key,
			"id: \"{email | upper | hmac}\"\n    at: \"{at}\"\n    key: {pk: \"USER#{@id}\", sk: \"-\"}", 0, "",
			`USER#` + hashText + ` / -`},
		{"a key without what the id hides", id + "\n    at: \"{at}\"\n    key: " + key,
			"id: \"{email | hmac}\"\n    at: \"{at}\"\n    key: {pk: USER, sk: \"-\"}", 0, "", `USER / -#` + hashText},
		{"a key without what the id hides, by @id", id + "\n    at: \"{at}\"\n    key: " + key,
			"id: \"{email | hmac}\"\n    at: \"{at}\"\n    key: {pk: USER, sk: \"-\"}", 1, "", `USER / -#` + hashText},
		{"a key that hides, and loses a part", id + "\n    at: \"{at}\"\n    key: " + key,
			"id: \"{email}\"\n    at: \"{at}\"\n    key: {pk: \"USER#{email | lower | hmac}\", sk: \"-\"}", 0, "",
			`USER#` + hashText + ` / -#` + hashText},
		{"more digits than there are", key, `{pk: "ORDER#{order}", sk: "{total | pad:99}"}`, 0, "", `ORDER#A-1 / 0{37}5`},
		{"all digits of a hash", key, `{pk: "{order | sha256:64}", sk: "-"}`, 0, "", hashText + ` / -`},
		{"a brace that is not closed", key, `{pk: "{order#X", sk: "-"}`, 0, "", `A-1#X / -`},
		{"text beside a time", `at: "{at}"`, `at: "on {at}"`, 0, "", `ORDER#A-1 / -`},
		{"two values under one name", `by: {shop: "{shop}"}`, `by: {of: "S-{shop}", who: "{order}{email}"}`, 0, "",
			`email=Ann@x of=S-s order=A-1 `},
		{"a count of a field, under a condition", values, `{big: count total where total > 9}`, 0, `,"total":5`, `shop=s$`},
		{"a count of a field, that meets the condition", values, `{big: count total where total > 9}`, 0, `,"total":10`, `big=1`},
		{"a count of a field that is not there", values, `{noted: {count: note}}`, 0, "", `shop=s$`},
		{"a count of a field that is there", values, `{noted: {count: note}}`, 0, `,"note":"x"`, `noted=1`},
		{"a count that says yes", values, `{orders: {count: yes}}`, 0, "", `orders=1`},
		{"an average", values, `{mean: avg total where shop = "s"}`, 0, "", `mean=5`},
		{"an average of others", values, `{mean: avg total where shop = "r"}`, 0, "", `shop=s$`},
		{"an average in a mapping", values, `{mean: {average: total, where: "shop = 's'"}}`, 0, "", `mean=5`},
		{"the greatest of the negatives", values, `{least: max -total where shop = "s"}`, 0, "", `least=5`},
		{"the greatest of the negatives of others", values, `{least: max -total where shop = "r"}`, 0, "", `shop=s$`},
		{"a JSONPath and a condition", values, `{cents: sum $.total where shop = "s"}`, 0, "", `cents=5`},
		{"what cannot be subtracted", "    from:\n      order: " + values,
			"    onExpire: subtract\n    from:\n      order: {values: {most: max total}}", 0, "", `most=5`},
		{"nearly what cannot be subtracted", "    from:\n      order: {values: " + values + "}",
			"    onExpire: subtract\n    from:\n      order: {values: {most: max total where shop = 's'}}", 1, "", `most=[0-9]+:1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			old := c.old
			if !strings.Contains(said, old) {
				old = strings.ReplaceAll(old, "order: {orders", "order: {values: {orders") + "}"
			}
			if !strings.Contains(said, old) {
				t.Fatalf("the file has no %q", old)
			}
			text := strings.Replace(said, old, c.new, 1)
			ms, _ := mistakesOf(text)
			var told []string
			for _, m := range ms {
				list := advice.Alternatives(m.Instead)
				if c.nth >= len(list) {
					continue
				}
				for _, after := range follow(text, m, list[c.nth]) {
					if after.compiles {
						told = append(told, outcome(t, after.text, c.more))
					}
				}
			}
			if len(told) == 0 || !slices.ContainsFunc(told, regexp.MustCompile(c.want).MatchString) {
				t.Errorf("%v\nsays, after it was followed, %q, want %s", ms, told, c.want)
			}
		})
	}
}

// outcome plans an event, and says its key and what it adds.
func outcome(t *testing.T, text, more string) string {
	t.Helper()
	p, err := loadQuietly(text)
	if err != nil {
		t.Fatal(err)
	}
	body := `"order":"A-1","at":"2026-03-01T00:00:00Z","shop":"s","email":"Ann@x"` + more
	if !strings.Contains(more, `"total"`) {
		body += `,"total":5`
	}
	item, err := p.Plan(envelope.Message{Body: "{" + body + "}"})
	if err != nil {
		return err.Error()
	}
	said := item.Key.PK + " / " + item.Key.SK + " |"
	for _, c := range p.Contributions(item).List {
		for i, name := range c.Def.By {
			said += " " + name + "=" + c.By[i]
		}
		for i, v := range c.Values {
			if v.Set {
				said += " " + c.Def.Values[i].Name + "=" + cmp.Or(v.Text, v.Number.String())
			}
		}
	}
	return said
}

// These say nothing that would be refused, or that would put every event into quarantine.
func TestAdviceInWords(t *testing.T) {
	const key, values = `key: {pk: "ORDER#{order}", sk: "-"}`, `{orders: count, cents: sum total}`
	latest := key + "\n    mode: latest\n    revision: version number"
	for _, c := range []struct{ old, new, want string }{
		{key, `key: {pk: "ORDER#{order}", sk: }`, "sk has no value; write its value after a colon and a space"},
		{key, key + "\n    at: ", "at is already declared on line 7"},
		{key, `key: {pk: "ORDER#{order}", sk: ""}`, `sk is empty; write a template, or a constant such as "ORDER"`},
		{"ingot: 1", "ingot: one", "ingot is text, not a whole number; write 1"},
		{key, key + "\n    ignore: trace, sent", "ignore is text, not a list; write [trace, sent]"},
		{key, key + "\n    was: {retain: 30d, before: 2026-03-01T00:00:00Z}", "was is a mapping, not a list; write it in brackets"},
		{`at: "{at}"`, `at: "{@at}"`, `at cannot use @at; write a time that the event itself tells, such as "{placed_at}"`},
		{`at: "{at}"`, `at: "{day}T{hour}"`, `write one field that has the whole time, such as "{placed_at}"`},
		{"type: order", `type: "{@id}"`, `type cannot use @id; write a field that holds order, such as "{type}"`},
		{"aggregates:",
			"  line: {part: {of: order, with: [order]}, id: \"{order}\", key: {pk: \"{order}\", sk: LINE}, retain: 30d}\naggregates:",
			"write line without retain, for that of the whole"},
		{key + "\naggregates:\n  all:\n    since: 1\n    by: {shop: \"{shop}\"}\n    from:\n      order: {values: " + values + "}",
			latest + "\naggregates:\n  all:\n    since: 1\n    onExpire: subtract\n    from:\n      order: {values: {last: newest status}}",
			"newest cannot be subtracted, and a newer revision of order takes the older one out; write all without last"},
	} {
		if !strings.Contains(said, c.old) {
			t.Fatalf("the file has no %q", c.old)
		}
		refused(t, strings.Replace(said, c.old, c.new, 1), c.want)
	}
}
