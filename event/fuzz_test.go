package event

import (
	"math/big"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
)

// FuzzDecimal holds the decimal parser and its arithmetic to math/big, and a number to its own
// text.
func FuzzDecimal(f *testing.F) {
	corpus.Add(f)
	for _, s := range []string{"0", "-0", "1.50", "1e-3", "9007199254740993", "99999999999999999999999999999999999999", "1e400", "-0.1E+2",
		"01", "1e1000000000000000000"} {
		f.Add(s, "2.5")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err := ParseDecimal(a)
		if err != nil {
			if err.Error() == "" {
				t.Fatal("no reason")
			}
			return
		}
		again, err := ParseDecimal(x.String())
		if grown := max(x.exp, -x.exp) >= 1e18; grown != (err != nil) {
			t.Fatalf("%s, written %s, is read back with %v", a, x, err)
		} else if !grown && (again != x || again.String() != x.String()) {
			t.Fatalf("%s, written %s, is read back as %s", a, x, again)
		}
		y, err := ParseDecimal(b)
		if err != nil || span(x) > 1000 || span(y) > 1000 {
			return
		}
		if (x.IsZero() || y.IsZero()) && strings.ContainsAny(a+b, "eE") {
			return // math/big works out 0e999999999999999999, zero by zero
		}
		p, q := rational(t, a), rational(t, b)
		if got, want := x.Cmp(y), p.Cmp(q); got != want || (got == 0) != (x == y) {
			t.Errorf("%s against %s is %d, want %d", a, b, got, want)
		}
		for name, c := range map[string]struct {
			got  Decimal
			want *big.Rat
		}{"+": {x.Add(y), new(big.Rat).Add(p, q)}, "-": {x.Sub(y), new(big.Rat).Sub(p, q)}} {
			must.Equal(t, c.want.Cmp(rational(t, c.got.String())), 0, a, name, b, c.got)
		}
	})
}

// span is how far from the point a number reaches, where math/big would write out every zero.
func span(d Decimal) int64 { return max(d.exp, -d.exp) + int64(len(d.large)) }

func rational(t *testing.T, s string) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("math/big cannot read %q", s)
	}
	return r
}

// FuzzSequence holds sequence numbers to math/big: what is taken is 21 to 40 digits and in the
// order of numbers.
func FuzzSequence(f *testing.F) {
	corpus.Add(f)
	f.Add("000000000000000000007", "4100000000012345678901")
	f.Add(strings.Repeat("9", 40), strings.Repeat("0", 21))
	f.Add("+00000000000000000007", "٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٠٧")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, err := ParseSequence(a)
		if wellFormed := len(a) >= 21 && len(a) <= 40 && strings.Trim(a, "0123456789") == ""; (err == nil) != wellFormed {
			t.Fatalf("%q: %v", a, err)
		}
		if err != nil {
			return
		}
		number := x.Bytes()
		p, _ := new(big.Int).SetString(a, 10)
		if x.String() != a || x.IsZero() || new(big.Int).SetBytes(number[:]).Cmp(p) != 0 {
			t.Fatalf("%q is %s, %x", a, x, number)
		}
		if y, err := ParseSequence(b); err == nil {
			q, _ := new(big.Int).SetString(b, 10)
			must.Equal(t, x.Compare(y), p.Cmp(q), a, b)
		}
	})
}
