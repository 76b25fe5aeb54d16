package event

import "math/bits"

// Divides reports whether [Decimal.IsMultipleOf] can divide by d: it is not 0, and its coefficient
// has at most 18 digits.
func (d Decimal) Divides() bool { return !d.IsZero() && d.large == "" && d.len() <= 18 }

// IsMultipleOf reports whether d is a whole number of times m, exactly. m must satisfy
// [Decimal.Divides]. The cost depends only on the digits of d, however large the exponents are.
func (d Decimal) IsMultipleOf(m Decimal) bool {
	power := d.exp - m.exp
	switch {
	case d.IsZero():
		return true
	case power < 0:
		return false // d's coefficient would have to be a multiple of 10, and it never ends in 0
	}
	by := m.small.lo
	var rest uint64
	for _, digit := range d.appendDigits(nil) {
		rest = (rest*10 + uint64(digit-'0')) % by // below 10^19, which a uint64 holds
	}
	return mulMod(rest, powMod(10%by, uint64(power), by), by) == 0
}

// mulMod returns a × b mod m.
func mulMod(a, b, m uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return bits.Rem64(hi, lo, m)
}

// powMod returns base^n mod m.
func powMod(base, n, m uint64) uint64 {
	result := 1 % m
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			result = mulMod(result, base, m)
		}
		base = mulMod(base, base, m)
	}
	return result
}
