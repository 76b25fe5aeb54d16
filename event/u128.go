package event

import (
	"cmp"
	"math/bits"
	"strconv"
)

// u128 is an unsigned integer below 10^38, unless a comment says otherwise. 38 digits fit in 128
// bits, with room for one addition.
type u128 struct{ hi, lo uint64 }

const ten19 = 1e19 // the greatest power of ten in a uint64

func (u u128) isZero() bool { return u == u128{} }

func (u u128) cmp(v u128) int {
	if u.hi != v.hi {
		return cmp.Compare(u.hi, v.hi)
	}
	return cmp.Compare(u.lo, v.lo)
}

// add may reach up to 2×10^38.
func (u u128) add(v u128) u128 {
	lo, carry := bits.Add64(u.lo, v.lo, 0)
	hi, _ := bits.Add64(u.hi, v.hi, carry)
	return u128{hi, lo}
}

// sub needs v <= u.
func (u u128) sub(v u128) u128 {
	lo, borrow := bits.Sub64(u.lo, v.lo, 0)
	hi, _ := bits.Sub64(u.hi, v.hi, borrow)
	return u128{hi, lo}
}

func (u u128) div(by uint64) (u128, uint64) {
	if u.hi == 0 {
		return u128{lo: u.lo / by}, u.lo % by
	}
	hi, r := u.hi/by, u.hi%by
	lo, r := bits.Div64(r, u.lo, by)
	return u128{hi, lo}, r
}

// mulAdd returns u×by + plus. It returns false if that is 10^38 or more.
func (u u128) mulAdd(by, plus uint64) (u128, bool) {
	hi, lo := bits.Mul64(u.lo, by)
	over, top := bits.Mul64(u.hi, by)
	lo, carry := bits.Add64(lo, plus, 0)
	hi, carry = bits.Add64(hi, top, carry)
	v := u128{hi, lo}
	return v, over == 0 && carry == 0 && v.cmp(limit38) < 0
}

// mulPow10 returns u×10^n. It returns false if that is 10^38 or more.
func (u u128) mulPow10(n int) (u128, bool) {
	for ok := true; n > 0 && ok; n -= 19 {
		if u, ok = u.mulAdd(uint64Pow10(min(n, 19)), 0); !ok {
			return u, false
		}
	}
	return u, true
}

// appendDigits returns u followed by digits. Together they have at most 38 digits.
func (u u128) appendDigits(digits string) u128 {
	for len(digits) > 0 {
		n := min(len(digits), 19)
		var part uint64
		for i := range n {
			part = part*10 + uint64(digits[i]-'0')
		}
		u, _ = u.mulAdd(uint64Pow10(n), part)
		digits = digits[n:]
	}
	return u
}

// append appends the digits of u.
func (u u128) append(dst []byte) []byte {
	high, low := u.div(ten19)
	if high.lo == 0 {
		return strconv.AppendUint(dst, low, 10)
	}
	dst = strconv.AppendUint(dst, high.lo, 10)
	for n := uintLen(low); n < 19; n++ {
		dst = append(dst, '0')
	}
	return strconv.AppendUint(dst, low, 10)
}

// len returns the number of digits of u. It is 1 for 0.
func (u u128) len() int {
	high, low := u.div(ten19)
	if high.lo == 0 {
		return uintLen(low)
	}
	return uintLen(high.lo) + 19
}

func uintLen(v uint64) int {
	n := 1
	for v >= 10 {
		v /= 10
		n++
	}
	return n
}

func uint64Pow10(n int) uint64 {
	v := uint64(1)
	for range n {
		v *= 10
	}
	return v
}

// limit38 is 10^38.
var limit38 = u128{hi: 0x4b3b4ca85a86c47a, lo: 0x098a224000000000}
