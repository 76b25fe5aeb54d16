package event

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// IsMultipleOf agrees with fractions, which are exact too but grow with the exponents.
func TestIsMultipleOf(t *testing.T) {
	seed := rand.Uint64()
	random := rand.New(rand.NewPCG(seed, 0))
	multiples := 0
	for range 20_000 {
		m, err := ParseDecimal(fmt.Sprintf("%de%d", 1+random.Int64N(1+random.Int64N(1_000)), random.IntN(9)-4))
		must.Succeed(t, err)
		d, err := ParseDecimal(fmt.Sprintf("%de%d", random.Int64N(100_000)-50_000, random.IntN(50)-6))
		must.Succeed(t, err)
		want := new(big.Rat).Quo(d.Rat(), m.Rat()).IsInt()
		if got := d.IsMultipleOf(m); got != want || !m.Divides() {
			t.Fatalf("that %s is a multiple of %s is %v, want %v (seed %d; put it in place of rand.Uint64() to replay)", d, m, got,
				want, seed)
		}
		if want {
			multiples++
		}
	}
	if multiples < 100 {
		t.Errorf("only %d of the pairs were multiples (seed %d)", multiples, seed)
	}
}
