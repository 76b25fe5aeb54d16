package event

import (
	"math/big"
	"strconv"
)

// String returns the number's normal form. Each number has exactly one, and it is a JSON number
// itself. It is plain digits (0, -12.5, 0.001, 1200) if there are at most 38 of them, including the
// 0 before a point. Otherwise it is <c>e<x> with an integer c that does not end in 0 (12e50,
// -1e-38, and 39 digits as <c>e0). 0 and -0 are "0". [ParseDecimal] reads it back, unless x itself
// has more than 18 digits.
func (d Decimal) String() string { return string(d.Append(make([]byte, 0, smallDigits+2))) }

// Append appends the text of [Decimal.String] to dst.
func (d Decimal) Append(dst []byte) []byte {
	if d.IsZero() {
		return append(dst, '0')
	}
	if d.neg {
		dst = append(dst, '-')
	}
	switch n := d.len(); {
	case d.exp >= 0 && d.exp <= int64(smallDigits-n):
		dst = d.appendDigits(dst)
		return appendZeros(dst, int(d.exp))
	case d.exp < 0 && n <= smallDigits && d.exp > -int64(n):
		dst = d.appendDigits(dst)
		return insertPoint(dst, len(dst)+int(d.exp))
	case d.exp < 0 && d.exp > -smallDigits && n <= smallDigits:
		dst = append(dst, '0', '.')
		dst = appendZeros(dst, -int(d.exp)-n)
		return d.appendDigits(dst)
	}
	dst = append(d.appendDigits(dst), 'e')
	return strconv.AppendInt(dst, d.exp, 10)
}

// appendDigits appends the digits of the coefficient.
func (d Decimal) appendDigits(dst []byte) []byte {
	if d.large != "" {
		return append(dst, d.large...)
	}
	return d.small.append(dst)
}

func appendZeros(dst []byte, n int) []byte {
	for range n {
		dst = append(dst, '0')
	}
	return dst
}

func insertPoint(dst []byte, at int) []byte {
	dst = append(dst, 0)
	copy(dst[at+1:], dst[at:])
	dst[at] = '.'
	return dst
}

// Rat returns the number as a [big.Rat], exactly. Use it for arithmetic that a Decimal does not
// have, such as an average. It returns nil for a number that is not [Decimal.Storable], because
// such a number could take any amount of memory. Every number in a total is storable.
func (d Decimal) Rat() *big.Rat {
	if !d.Storable() {
		return nil
	}
	r, _ := new(big.Rat).SetString(d.String()) // String writes a number that SetString reads
	return r
}
