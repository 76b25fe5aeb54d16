package event

import (
	"fmt"
	"math/big"
	"strings"
)

// maxSpan is how many digits the operands of an addition may be apart. 1e1000000000 + 1 has more
// digits than any memory can hold.
const maxSpan = 100_000

// Add returns the exact sum. It is for numbers that are [Decimal.Summable] or [Decimal.Storable],
// and for sums of such numbers. It panics if the exponents are more than 100,000 apart, because
// memory could not hold the sum. Check numbers from outside first.
func (d Decimal) Add(o Decimal) Decimal {
	switch {
	case o.IsZero():
		return d
	case d.IsZero():
		return o
	}
	if d.exp < o.exp {
		d, o = o, d
	}
	span := d.exp - o.exp
	if span > maxSpan {
		panic(fmt.Sprintf("event: Add of numbers whose exponents are %d apart; ask Summable or Storable first", span))
	}
	if sum, ok := d.addSmall(o, int(span)); ok {
		return sum
	}
	return d.addLarge(o, int(span))
}

// Sub returns the exact difference d - o, with the same limit as [Decimal.Add].
func (d Decimal) Sub(o Decimal) Decimal { return d.Add(o.Neg()) }

// addSmall adds without allocation if both coefficients, brought to o's exponent, and the sum are
// small.
func (d Decimal) addSmall(o Decimal, span int) (Decimal, bool) {
	if d.large != "" || o.large != "" {
		return Decimal{}, false
	}
	wide, ok := d.small.mulPow10(span)
	if !ok {
		return Decimal{}, false
	}
	sum := Decimal{exp: o.exp}
	switch {
	case d.neg == o.neg:
		sum.small, sum.neg = wide.add(o.small), d.neg
		ok = sum.small.cmp(limit38) < 0
	case wide.cmp(o.small) >= 0:
		sum.small, sum.neg = wide.sub(o.small), d.neg
	default:
		sum.small, sum.neg = o.small.sub(wide), o.neg
	}
	return sum.normal(), ok
}

func (d Decimal) addLarge(o Decimal, span int) Decimal {
	sum := d.coefficient(span)
	sum.Add(sum, o.coefficient(0))
	digits, neg := strings.CutPrefix(sum.String(), "-")
	return Decimal{exp: o.exp, neg: neg}.withDigits(digits)
}

// coefficient is d's coefficient × 10^shift with its sign.
func (d Decimal) coefficient(shift int) *big.Int {
	digits := append(d.appendDigits(nil), strings.Repeat("0", shift)...)
	i, _ := new(big.Int).SetString(string(digits), 10)
	if d.neg {
		i.Neg(i)
	}
	return i
}
