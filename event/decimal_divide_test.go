package event

import (
	"fmt"
	"math/big"
	"testing"
)

// IsMultipleOf agrees with fractions, which are exact too but grow with the exponents.
func TestIsMultipleOf(t *testing.T) {
	random := seeded(t)
	multiples := 0
	for range 20_000 {
		m := decimal(t, fmt.Sprintf("%de%d", 1+random.Int64N(1+random.Int64N(1_000)), random.IntN(9)-4))
		d := decimal(t, fmt.Sprintf("%de%d", random.Int64N(100_000)-50_000, random.IntN(50)-6))
		want := new(big.Rat).Quo(d.Rat(), m.Rat()).IsInt()
		if got := d.IsMultipleOf(m); got != want || !m.Divides() {
			t.Fatalf("that %s is a multiple of %s is %v, want %v", d, m, got, want)
		}
		if want {
			multiples++
		}
	}
	if multiples < 100 {
		t.Errorf("only %d of the pairs were multiples", multiples)
	}
}
