package aggregate_test

import (
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// The form is golden, because totals store it.
func TestDistinctText(t *testing.T) {
	for json, want := range map[string]string{`"a"`: "010ac801", "1": "0106b802"} {
		must.Equal(t, hex.EncodeToString([]byte(aggregate.DistinctText([]byte(json)))), want, json)
	}
}

// Each sketch has one form, in whatever order it met its values, and merging loses nothing.
func TestSketchForms(t *testing.T) {
	for _, n := range []int{0, 1, 2, 500, 1150, 1200, 5000, 100_000} {
		var all, back aggregate.Sketch
		var halves [2]aggregate.Sketch
		for i := n - 1; i >= 0; i-- {
			one := aggregate.DistinctText([]byte(strconv.Itoa(i)))
			if all.Merge(one) != nil || halves[i%2].Merge(one) != nil || halves[0].Merge(one) != nil {
				t.Fatal(i)
			}
		}
		text := all.Text()
		if err := halves[1].Merge(halves[0].Text()); err != nil || halves[1].Text() != text {
			t.Errorf("%d: the halves do not make the whole: %v", n, err)
		}
		if err := back.Merge(text); err != nil || back != all || len(text) > 3073 {
			t.Errorf("%d: %d bytes do not read back: %v", n, len(text), err)
		}
		if form := n > 1200; n > 0 && (text[0] == 2) != form && n != 1150 && n != 1200 {
			t.Errorf("%d: form %d", n, text[0])
		}
		if got := all.Estimate(); math.Abs(float64(got)-float64(n)) > 4*aggregate.DistinctError*float64(n)+0.5 {
			t.Errorf("%d values are estimated as %d", n, got)
		}
	}
}

func TestSketchRefuses(t *testing.T) {
	for _, text := range []string{"\x00", "\x01", "\x01\x00\x00", "\x01\x00\x00\x00", "\x01\x00\x00\x36", "\x01\x10\x00\x01",
		"\x01\x00\x01\x01\x00\x00\x01",
		"\x01\x00\x00\x01\x00\x00\x01", "\x02", "\x02" + strings.Repeat("\xff", 3072), "\x02" + strings.Repeat("\x00", 3071), "\x03abc",
		"\x01" + strings.Repeat("\x00\x00\x01", 1024)} {
		var s aggregate.Sketch
		if err := s.Merge(text); err == nil || s != (aggregate.Sketch{}) {
			t.Errorf("%.20q is read", text)
		}
	}
}
