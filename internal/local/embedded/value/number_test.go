package value

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestNormalNumber(t *testing.T) {
	for in, want := range map[string]string{
		"0": "0", "-0": "0", "0.00": "0", "0e5": "0", "00012": "12", "+7": "7", "1.50": "1.5", "-1.50": "-1.5", ".5": "0.5", "5.": "5",
		"1e3": "1000", "1E+3": "1000", "12e-3": "0.012", "100": "100", "-100": "-100", "0.001": "0.001",
		"1e-130":                                 "0." + strings.Repeat("0", 129) + "1",
		"1e125":                                  "1" + strings.Repeat("0", 125),
		"99999999999999999999999999999999999999": "99999999999999999999999999999999999999", // 38 digits
		"0.99999999999999999999999999999999999999":   "0.99999999999999999999999999999999999999",   // 38 after the point
		"100000000000000000000000000000000000000000": "100000000000000000000000000000000000000000", // trailing zeros are not significant
	} {
		if got, err := normalNumber(in); got != want || err != nil {
			t.Errorf("normalNumber(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"": "cannot be converted", "-": "cannot be converted", ".": "cannot be converted", "1x": "cannot be converted",
		"1e":  "cannot be converted",
		"NaN": "cannot be converted", "Infinity": "cannot be converted", " 1": "cannot be converted", "0x10": "cannot be converted",
		"1_000": "cannot be converted",
		"1e126": msgOverflow, "-1e126": msgOverflow, "1e-131": msgUnderflow,
		"123456789012345678901234567890123456789": msgPrecision, "1.00000000000000000000000000000000000001": msgPrecision,
	} {
		_, err := normalNumber(in)
		must.Fail(t, err, want)
	}
}

// TestNumberSize compares the sizes with those that the estimates are made with, which reckon from
// the text.
func TestNumberSize(t *testing.T) {
	const seed = 5
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 20_000 {
		text := randomNumber(r)
		stored, err := normalNumber(text)
		must.Succeed(t, err)
		if got, want := numberSize(stored), itemform.NumberSize(text); got != want {
			t.Fatalf("seed %d, case %d: %s takes %d bytes, want %d", seed, i, text, got, want)
		}
	}
}

func randomNumber(r *rand.Rand) string {
	digits := 1 + r.IntN(20)
	var b strings.Builder
	if r.IntN(2) == 0 {
		b.WriteByte('-')
	}
	point := r.IntN(digits + 1)
	for i := range digits {
		if i == point {
			b.WriteByte('.')
		}
		b.WriteByte(byte('0' + r.IntN(10)))
	}
	if b.String() == "-" || strings.HasSuffix(b.String(), ".") {
		b.WriteByte('0')
	}
	if r.IntN(3) == 0 {
		fmt.Fprintf(&b, "e%d", r.IntN(21)-10)
	}
	return b.String()
}

// TestNumberAgainstRat compares Number with big.Rat.
func TestNumberAgainstRat(t *testing.T) {
	const seed = 4
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 20_000 {
		a, b := randomNumber(r), randomNumber(r)
		n, errA := parseNumber(a)
		m, errB := parseNumber(b)
		if errA != nil || errB != nil {
			t.Fatalf("seed %d, case %d: %s, %s: %v, %v", seed, i, a, b, errA, errB)
		}
		x, _ := new(big.Rat).SetString(a)
		y, _ := new(big.Rat).SetString(b)
		if n.cmp(m) != x.Cmp(y) {
			t.Fatalf("seed %d, case %d: cmp(%s, %s) = %d, want %d", seed, i, a, b, n.cmp(m), x.Cmp(y))
		}
		if back, _ := new(big.Rat).SetString(n.String()); back.Cmp(x) != 0 {
			t.Fatalf("seed %d, case %d: %s became %s", seed, i, a, n)
		}
		sum, err := n.add(m)
		if err != nil {
			if len(sum.digits) <= maxDigits {
				t.Fatalf("seed %d, case %d: %s + %s: %v", seed, i, a, b, err)
			}
			continue
		}
		if got, _ := new(big.Rat).SetString(sum.String()); got.Cmp(new(big.Rat).Add(x, y)) != 0 {
			t.Fatalf("seed %d, case %d: %s + %s = %s", seed, i, a, b, sum)
		}
	}
}

func FuzzNumber(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{"0", "-1.5e10", "1e999999999", "9999999999999999999999999999999999999999", ".", "--1", "1E-130"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		text, err := normalNumber(s)
		if err != nil {
			return
		}
		if again, err := normalNumber(text); err != nil || again != text {
			t.Errorf("%q: normal form %q is not its own: %q, %v", s, text, again, err)
		}
	})
}
