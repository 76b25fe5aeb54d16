package pipeline

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"

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
const leastFollowed = 200

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
