package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// trouble is what a command lets happen to the functions it calls:
//
//	refuse=API           the request is refused: no capacity, or the service is down
//	deny=API             the function has no permission for the request
//	lose-answer=API      the request is done, and its answer lost
//	crash-before=API     the process dies before the request is done
//	crash-after=API      the process dies when the request is done
//	freeze-before=API    the process freezes with the request on its way; thaw lets both go on
//	freeze-after=API     the process freezes when the request is done
//	throttle=2,4         these statements of the first batch of statements are refused inside its success
//	half=3               these are done, and told of an internal error inside its success
//	twice                the function is called a second time with the same event
//	drop-answer          the function's answer is lost on its way to Lambda
//	forget               Lambda forgets what it was answered
//
// API is a request's name, then the first one counts; API:2 is the second, API:* every one; a
// number N alone is the Nth request whatever its name.
type trouble struct {
	faults     []*fault
	statements map[string][]int // by kind: their places in the first batch of statements, counted from 1
	words      []string
}

type fault struct {
	kind  string
	api   string // empty means any
	at    int    // 0 means every request
	calls int    // so far
}

var kinds = []string{"refuse", "deny", "lose-answer", "crash-before", "crash-after", "freeze-before", "freeze-after"}

// statementKinds are the ways in which some statements of a request may fail.
var statementKinds = []string{"throttle", "half"}

// trouble takes the trouble from a command's arguments.
func (a *arguments) trouble() *trouble {
	t := &trouble{statements: map[string][]int{}}
	for _, kind := range kinds {
		for text := a.pair(kind); text != ""; text = a.pair(kind) {
			f := &fault{kind: kind, at: 1}
			api, at, counted := strings.Cut(text, ":")
			n, err := strconv.Atoi(text)
			switch {
			case err == nil:
				f.at = n
			case at == "*":
				f.api, f.at = api, 0
			case counted:
				f.api = api
				if f.at, err = strconv.Atoi(at); err != nil || f.at < 1 {
					a.err = fmt.Errorf("%s=%s: which one?", kind, text)
				}
			default:
				f.api = api
			}
			t.faults = append(t.faults, f)
		}
	}
	for _, kind := range statementKinds {
		for _, text := range strings.Split(a.pair(kind), ",") {
			if n, err := strconv.Atoi(text); err == nil {
				t.statements[kind] = append(t.statements[kind], n)
			} else if text != "" {
				a.err = fmt.Errorf("%s=%s is not a list of numbers", kind, text)
			}
		}
	}
	for _, word := range []string{"twice", "drop-answer", "forget"} {
		if a.flag(word) {
			t.words = append(t.words, word)
		}
	}
	return t
}

// takes reports whether the word was given. It does so only once.
func (t *trouble) takes(word string) bool {
	i := slices.Index(t.words, word)
	if i >= 0 {
		t.words = slices.Delete(t.words, i, i+1)
	}
	return i >= 0
}

// of returns what happens to the next request with this name. It returns an empty text if nothing
// does.
func (t *trouble) of(api string) string {
	kind := ""
	for _, f := range t.faults {
		if f.api != "" && f.api != api {
			continue
		}
		if f.calls++; f.at == 0 || f.at == f.calls {
			kind = f.kind
		}
	}
	return kind
}

// unused returns an error that names the trouble that never happened. A script that provokes
// nothing does not show what it claims to show.
func (t *trouble) unused() error {
	for _, f := range t.faults {
		if f.calls < max(f.at, 1) {
			return fmt.Errorf("%s never happened: there were %d such requests", f.kind, f.calls)
		}
	}
	for _, kind := range statementKinds {
		if len(t.statements[kind]) > 0 {
			return fmt.Errorf("%s never happened", kind)
		}
	}
	if len(t.words) > 0 {
		return fmt.Errorf("%s never happened", t.words[0])
	}
	return nil
}
