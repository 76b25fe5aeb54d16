package corpus

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// A seed is read as it was written, whatever bytes it consists of, and whether or not it was pasted
// with the header.
func TestSeedsRoundTrip(t *testing.T) {
	var every strings.Builder
	for b := range 256 {
		every.WriteByte(byte(b))
	}
	want := []seed{
		{"every byte", []any{every.String(), []byte(every.String())}},
		{"looks like an entry", []any{"-- b --\n" + header + "\nstring(\"x\")\r\n", []byte{}}},
		{"others", []any{true, false, int64(-1 << 63), int64(7)}},
	}
	file := strings.Replace("What stands above the first entry is a comment.\n"+written(want), " --\n", " --\n"+header+"\n", 1)
	for _, text := range []string{file, strings.ReplaceAll(file, "\n", "\r\n")} {
		got, err := parse("seeds", text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q\n%v", got, err)
		}
	}
}

// written returns the text of a file, with values as Go writes them.
func written(seeds []seed) string {
	var file strings.Builder
	for _, s := range seeds {
		fmt.Fprintf(&file, "-- %s --\n", s.name)
		for _, v := range s.values {
			switch v := v.(type) {
			case string:
				fmt.Fprintf(&file, "string(%q)\n", v)
			case []byte:
				fmt.Fprintf(&file, "[]byte(%q)\n", v)
			default:
				fmt.Fprintf(&file, "%T(%v)\n", v, v)
			}
		}
	}
	return file.String()
}

func TestMistakesInAFile(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "holds no seed",
		"string(\"x\")\n":              "holds no seed",
		"-- a --\nx\n":                 ":2: x is not a value as Go writes it",
		"-- a --\nstring(\"x\n":        ":2: string(\"x is not a value",
		"-- a --\nbool(true)\nuint(1)": ":3: arguments of type uint are not read",
		"-- a --\nint64(x)":            ":2: strconv.ParseInt",
	} {
		_, err := parse("seeds", text)
		must.Fail(t, err, want)
	}
	if _, err := read("none.txtar"); err == nil {
		t.Error("a file that is not there has seeds")
	}
}

// Every file either has a mistake, or its seeds can be written and read again.
func FuzzParse(f *testing.F) {
	Add(f)
	f.Fuzz(func(t *testing.T, text string) {
		seeds, err := parse("seeds", text)
		if err != nil {
			return
		}
		again, err := parse("seeds", written(seeds))
		if err != nil || !reflect.DeepEqual(again, seeds) {
			t.Fatalf("%q: %q, then %q, %v", text, seeds, again, err)
		}
	})
}
