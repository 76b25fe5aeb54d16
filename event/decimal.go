package event

import (
	"fmt"
	"math"
	"strings"
)

// Decimal is an exact decimal number, coefficient × 10^exponent. It holds any number that a
// [Document] can hold, and never uses a float. The zero value is 0. Two Decimals are == if and only
// if they are the same number.
type Decimal struct {
	// Each number has exactly one form: the coefficient never ends in the digit 0, and the number 0
	// is the zero value.
	small u128   // the coefficient if it has at most smallDigits digits
	large string // otherwise its digits
	exp   int64
	neg   bool
}

// smallDigits is the number of digits that every coefficient in a u128 can have. DynamoDB's numbers
// have no more.
const smallDigits = 38

// ParseDecimal reads a JSON number. Its exponent may have at most 18 digits, not counting leading
// zeros.
func ParseDecimal(literal string) (Decimal, error) {
	end, what := scanNumber(literal, 0)
	if what == "" && end < len(literal) {
		what = "there is more text after the number"
	}
	if what != "" {
		return Decimal{}, fmt.Errorf("number %s: %s", short(Quote(literal)), what)
	}
	return decimalOf(literal), nil
}

// decimalOf returns the value of a literal that scanNumber accepted.
func decimalOf(literal string) Decimal {
	var d Decimal
	mantissa, neg := strings.CutPrefix(literal, "-")
	if i := strings.LastIndexAny(mantissa, "eE"); i >= 0 {
		d.exp = exponentOf(mantissa[i+1:])
		mantissa = mantissa[:i]
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	d.exp -= int64(len(fraction))
	d.neg = neg
	if len(whole)+len(fraction) <= smallDigits {
		d.small = u128{}.appendDigits(whole).appendDigits(fraction)
		return d.normal()
	}
	return d.withDigits(whole + fraction)
}

func exponentOf(s string) int64 {
	s, neg := strings.CutPrefix(strings.TrimPrefix(s, "+"), "-")
	var e int64
	for i := range len(s) {
		e = e*10 + int64(s[i]-'0')
	}
	if neg {
		return -e
	}
	return e
}

// withDigits returns d with the coefficient that digits spells. The digits may have any length, and
// zeros at both ends.
func (d Decimal) withDigits(digits string) Decimal {
	kept := strings.TrimRight(digits, "0")
	d.exp += int64(len(digits) - len(kept))
	kept = strings.TrimLeft(kept, "0")
	if len(kept) > smallDigits {
		d.small, d.large = u128{}, kept
		return d
	}
	d.small, d.large = u128{}.appendDigits(kept), ""
	return d.normal()
}

// normal removes the zeros at the end of a small coefficient.
func (d Decimal) normal() Decimal {
	if d.small.isZero() {
		return Decimal{}
	}
	for {
		q, r := d.small.div(10)
		if r != 0 {
			return d
		}
		d.small, d.exp = q, d.exp+1
	}
}

// DecimalOf returns the Decimal of an integer.
func DecimalOf(i int64) Decimal {
	d := Decimal{neg: i < 0, small: u128{lo: uint64(i)}}
	if d.neg {
		d.small.lo = -d.small.lo
	}
	return d.normal()
}

// IsZero reports whether d is 0.
func (d Decimal) IsZero() bool { return d == Decimal{} }

// Sign returns -1, 0 or 1.
func (d Decimal) Sign() int {
	switch {
	case d.IsZero():
		return 0
	case d.neg:
		return -1
	}
	return 1
}

// Neg returns -d.
func (d Decimal) Neg() Decimal {
	if !d.IsZero() {
		d.neg = !d.neg
	}
	return d
}

// Shift returns d × 10^places.
func (d Decimal) Shift(places int64) Decimal {
	if !d.IsZero() {
		d.exp += places
	}
	return d
}

// IsInteger reports whether d has no decimals.
func (d Decimal) IsInteger() bool { return d.exp >= 0 }

// Int64 returns d as an int64. It returns false if d is not an integer or does not fit.
func (d Decimal) Int64() (int64, bool) {
	if d.exp < 0 || d.exp > 18 || d.large != "" {
		return 0, false
	}
	v, ok := d.small.mulPow10(int(d.exp))
	switch {
	case !ok || v.hi != 0:
		return 0, false
	case d.neg && v.lo == 1<<63:
		return math.MinInt64, true
	case v.lo > math.MaxInt64:
		return 0, false
	case d.neg:
		return -int64(v.lo), true
	}
	return int64(v.lo), true
}

// magnitude returns the power of ten of d's first digit: 0 for 1 to 9.99…, -1 for 0.1. d must not
// be 0.
func (d Decimal) magnitude() int64 { return d.exp + int64(d.len()) - 1 }

// len returns the number of digits of the coefficient.
func (d Decimal) len() int {
	if d.large != "" {
		return len(d.large)
	}
	return d.small.len()
}

// Cmp returns -1, 0 or 1 if d is below, equal to or above o. Its cost depends only on the digits,
// however far apart the exponents are.
func (d Decimal) Cmp(o Decimal) int {
	ds, os := d.Sign(), o.Sign()
	switch {
	case d == o:
		return 0
	case ds != os && ds < os:
		return -1
	case ds != os:
		return 1
	}
	return ds * d.cmpSize(o)
}

// cmpSize compares the sizes of two numbers that are not 0.
func (d Decimal) cmpSize(o Decimal) int {
	dm, om := d.magnitude(), o.magnitude()
	switch {
	case dm < om:
		return -1
	case dm > om:
		return 1
	case d.exp == o.exp && d.large == "" && o.large == "":
		return d.small.cmp(o.small)
	}
	// The first digits of both have the same place value, so the digits compare as text. If one
	// text begins with the other, the longer one is greater, because it does not end in 0.
	var db, ob [smallDigits]byte
	return strings.Compare(string(d.appendDigits(db[:0])), string(o.appendDigits(ob[:0])))
}
