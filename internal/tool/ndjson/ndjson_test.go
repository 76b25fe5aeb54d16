package ndjson

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func read(r io.Reader) []string {
	var list []string
	for line, err := range Lines(r) {
		switch {
		case errors.Is(err, ErrTooLong):
			list = append(list, fmt.Sprintf("%d too long", line.Number))
		case err != nil:
			list = append(list, fmt.Sprintf("%d %v", line.Number, err))
		default:
			list = append(list, fmt.Sprintf("%d %s", line.Number, line.Text))
		}
	}
	return list
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", MaxLine+1)
	for text, want := range map[string]string{
		"":                          "",
		"\n \n":                     "",
		"{}":                        "1 {}",
		"\ufeff{}\r\n\n {\"a\":1} ": "1 {} | 3 {\"a\":1}",
		"a\n" + long + "\nb\n":      "1 a | 2 too long | 3 b",
		long:                        "1 too long",
		"a\n\ufeffb":                "1 a | 2 \ufeffb",
	} {
		must.Equal(t, strings.Join(read(strings.NewReader(text)), " | "), want, text)
		must.Equal(t, strings.Join(read(iotest.HalfReader(strings.NewReader(text))), " | "), want, text)
	}
	broken := io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(errors.New("no more")))
	must.Equal(t, strings.Join(read(broken), " | "), "1 a | 2 no more")
	for line := range Lines(strings.NewReader("a\nb\n")) {
		if line.Text == "b" {
			t.Error("went on after a break")
		}
		break
	}
}

func TestUnfinished(t *testing.T) {
	for text, want := range map[string]bool{
		"{": true, "[": true, `{"a": 1,`: true, `[{"a": 1}`: true, `{"a": {"b": 1}`: true, `{"a": "b`: true,
		"": false, "{}": false, `{"a": 1}`: false, "[]": false, "id,name": false, "}": false, `"a": 1,`: false, `{"a": 1}}`: false,
		"{a": false,
	} {
		must.Equal(t, Unfinished(text), want, text)
	}
}
