package keys

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// Whatever a template makes of an event passes the check, for every function.
func TestWhatIsMadePasses(t *testing.T) {
	values := []string{`"Abc"`, `"2026-03-05T14:07:31.5Z"`, `" padded "`, `"äÖü"`, "7", "1200", `"0"`, `"a@b.org"`, `"/a/b"`}
	var templates []string
	for _, f := range Functions() {
		call := f.Name
		switch f.Arg {
		case "N", "N:SEP?":
			call += ":8"
		case "N?":
			templates = append(templates, "{v | "+call+":8}", "pre-{v | "+call+":8}-post")
		}
		if f.Name == "rev" {
			call = "time | rev"
		}
		templates = append(templates, "{v | "+call+"}", "pre-{v | "+call+"}-post")
	}
	templates = append(templates, "{v}", "x{v}", "{v | lower | first:2}", "{@at | day}", "constant")
	made := 0
	for _, text := range templates {
		tpl := compiled(t, text)
		for _, v := range values {
			s := &Source{Data: root(t, `{"v":`+v+`}`), At: time.Date(2026, 2, 28, 1, 2, 3, 4, time.UTC), HasAt: true,
				Secret: []byte("a secret of sixteen bytes")}
			out, err := tpl.Expand(s)
			if err != nil || strings.Contains(out, "%") {
				continue // it makes nothing of that, or something that is escaped
			}
			made++
			if err := tpl.CheckMade(out); err != nil {
				t.Errorf("%s of %s: %v", text, v, err)
			}
		}
	}
	if made < 100 {
		t.Errorf("only %d texts were made", made)
	}
}

// What an event has, in place of what the functions leave of it, is told apart, and so is a
// misspelled text.
func TestWhatIsNeverMade(t *testing.T) {
	for _, tt := range []struct{ template, text, says string }{
		{"{c | hmac}", "c1", "64 digits of lower-case hex"},
		{"{c | hmac}", strings.Repeat("A", 64), "64 digits of lower-case hex"},
		{"{c | sha256:8}", "abcdefg1", "8 digits of lower-case hex"},
		{"{c | lower}", "North", "in lower case"},
		{"{c | upper}", "eur", "in upper case"},
		{"{c | trim}", "a ", "without white space"},
		{"{c | first:2}", "abc", "at most 2 characters"},
		{"{c | pad:4}", "7", "4 digits"},
		{"{c | shard:8}", "8", "a number from 0 to 7"},
		{"{c | shard:8}", "07", "a number from 0 to 7"},
		{"{@at | day}", "2026-02-30", "a time like 2006-01-02"},
		{"{@at | day}", "2026-2-3", "a time like 2006-01-02"},
		{"{@at | month}", "2026-13", "a time like 2006-01"},
		{"{@at | time}", "2026-02-01T00:00:00Z", "a time like"},
		{"{@at | unix}", "2026-02-01", "digits alone"},
		{"site-{c}", "north", `a text with "site-" in it`},
		{"{c}-eu", "north", `a text with "-eu" in it`},
		{"all", "every", `a text with "all" in it`},
		{"{c}", "", "not empty"},
	} {
		must.Fail(t, compiled(t, tt.template).CheckMade(tt.text), tt.says, tt.template)
	}
}
