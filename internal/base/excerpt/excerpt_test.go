package excerpt

import (
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"", 3, ""},
		{"abc", 3, "abc"},
		{"abcd", 3, "abc…"},
		{"Köln", 2, "K…"},
		{"Köln", 3, "Kö…"},
		{"日本", 5, "日…"},
		{"日本", 2, "…"},
		{"日本", 6, "日本"},
		{"\x80\x80\x80", 2, "…"}, // not UTF-8: nothing of it is shown
	} {
		must.Equal(t, Of(c.text, c.most), c.want)
	}
}
