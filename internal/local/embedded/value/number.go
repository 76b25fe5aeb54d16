package value

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// DynamoDB's numbers have at most 38 significant digits. Their magnitude is 0 or 1E-130 to
// 9.99…E+125.
const (
	maxDigits   = 38
	maxExponent = 125 // of the leading digit
	minExponent = -130
)

const (
	msgOverflow  = "Number overflow. Attempting to store a number with magnitude larger than supported range"
	msgUnderflow = "Number underflow. Attempting to store a number with magnitude smaller than supported range"
	msgPrecision = "Attempting to store more than 38 significant digits in a Number"
)

// Number is an exact decimal: sign x digits x 10^exp. digits has no leading and no trailing zero,
// and is empty for zero. So two equal numbers are equal structures.
type Number struct {
	neg    bool
	digits string
	exp    int
}

// parseNumber reads any spelling that DynamoDB accepts and checks the range.
func parseNumber(s string) (Number, error) {
	n, ok := ScanNumber(s)
	if !ok {
		return Number{}, api.Invalid("The parameter cannot be converted to a numeric value: %s", s)
	}
	if i := strings.IndexAny(s, "eE"); i >= 0 && n.digits == "" {
		// The exponent of 0 counts too, although it changes nothing.
		n.digits = "1"
		n.exp, _ = strconv.Atoi(s[i+1:])
		return Number{}, n.check()
	}
	return n, n.check()
}

// ScanNumber reads any spelling of a number. It does not check the range.
func ScanNumber(s string) (Number, bool) {
	var n Number
	rest := s
	if rest != "" && (rest[0] == '-' || rest[0] == '+') {
		n.neg = rest[0] == '-'
		rest = rest[1:]
	}
	whole, rest := leadingDigits(rest)
	var fraction string
	if rest != "" && rest[0] == '.' {
		fraction, rest = leadingDigits(rest[1:])
	}
	if whole == "" && fraction == "" {
		return Number{}, false
	}
	if rest != "" {
		if rest[0] != 'e' && rest[0] != 'E' {
			return Number{}, false
		}
		exp, err := strconv.Atoi(rest[1:])
		if err != nil || len(rest) > 9 {
			return Number{}, false
		}
		n.exp = exp
	}
	n.digits = whole + fraction
	n.exp -= len(fraction)
	return n.normal(), true
}

func leadingDigits(s string) (digits, rest string) {
	i := 0
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return s[:i], s[i:]
}

func (n Number) normal() Number {
	n.digits = strings.TrimLeft(n.digits, "0")
	trimmed := strings.TrimRight(n.digits, "0")
	n.exp += len(n.digits) - len(trimmed)
	n.digits = trimmed
	if n.digits == "" {
		return Number{}
	}
	return n
}

func (n Number) check() error {
	if n.digits == "" {
		return nil
	}
	switch lead := n.leading(); {
	case len(n.digits) > maxDigits:
		return api.Invalid(msgPrecision)
	case lead > maxExponent:
		return api.Invalid(msgOverflow)
	case lead < minExponent:
		return api.Invalid(msgUnderflow)
	}
	return nil
}

// Ordered returns text whose byte order is the order of the numbers.
func (n Number) Ordered() string {
	const middle = 500 // leading exponents are from -130 to 125
	if n.digits == "" {
		return "1"
	}
	if !n.neg {
		return "2" + strconv.Itoa(middle+n.leading()) + n.digits
	}
	text := []byte(strconv.Itoa(middle-n.leading()) + n.digits)
	for i := 3; i < len(text); i++ {
		text[i] = '0' + '9' - text[i]
	}
	return "0" + string(text) + "~"
}

// leading returns the exponent of the first digit.
func (n Number) leading() int { return n.exp + len(n.digits) - 1 }

// String returns the plain text that DynamoDB returns: no exponent, no superfluous zero, and 0 for
// zero.
func (n Number) String() string {
	if n.digits == "" {
		return "0"
	}
	var b strings.Builder
	if n.neg {
		b.WriteByte('-')
	}
	point := len(n.digits) + n.exp // digits before the decimal point
	switch {
	case n.exp >= 0:
		b.WriteString(n.digits)
		b.WriteString(strings.Repeat("0", n.exp))
	case point > 0:
		b.WriteString(n.digits[:point])
		b.WriteByte('.')
		b.WriteString(n.digits[point:])
	default:
		b.WriteString("0.")
		b.WriteString(strings.Repeat("0", -point))
		b.WriteString(n.digits)
	}
	return b.String()
}

// cmp compares by value.
func (n Number) cmp(m Number) int {
	if n == m {
		return 0
	}
	if s, t := n.sign(), m.sign(); s != t {
		return sign(s - t)
	}
	larger := sign(n.leading() - m.leading())
	if larger == 0 {
		larger = strings.Compare(n.digits, m.digits) // both are aligned at the leading digit, so text order is value order
	}
	if n.neg {
		return -larger
	}
	return larger
}

func (n Number) sign() int {
	switch {
	case n.digits == "":
		return 0
	case n.neg:
		return -1
	default:
		return 1
	}
}

func sign(i int) int {
	switch {
	case i < 0:
		return -1
	case i > 0:
		return 1
	default:
		return 0
	}
}

// add returns the exact sum. It checks the sum against DynamoDB's range and precision.
func (n Number) add(m Number) (Number, error) {
	exp := min(n.exp, m.exp)
	if a, ok := n.scaled(exp); ok {
		if b, ok := m.scaled(exp); ok {
			sum := fromInt64(a+b, exp) // both are below 10^18, so the int64 cannot overflow
			return sum, sum.check()
		}
	}
	sum := new(big.Int).Add(n.bigScaled(exp), m.bigScaled(exp))
	out := Number{neg: sum.Sign() < 0, digits: sum.Abs(sum).String(), exp: exp}.normal()
	return out, out.check()
}

func (n Number) negated() Number {
	if n.digits != "" {
		n.neg = !n.neg
	}
	return n
}

// scaled returns the number as a multiple of 10^exp, if that takes at most 18 digits.
func (n Number) scaled(exp int) (int64, bool) {
	if n.digits == "" {
		return 0, true
	}
	shift := n.exp - exp
	if len(n.digits)+shift > 18 {
		return 0, false
	}
	var v int64
	for i := range len(n.digits) {
		v = v*10 + int64(n.digits[i]-'0')
	}
	for range shift {
		v *= 10
	}
	if n.neg {
		v = -v
	}
	return v, true
}

func (n Number) bigScaled(exp int) *big.Int {
	v := new(big.Int)
	if n.digits == "" {
		return v
	}
	v.SetString(n.digits+strings.Repeat("0", n.exp-exp), 10)
	if n.neg {
		v.Neg(v)
	}
	return v
}

func fromInt64(v int64, exp int) Number {
	n := Number{neg: v < 0, exp: exp}
	if v < 0 {
		v = -v
	}
	n.digits = strconv.FormatInt(v, 10)
	return n.normal()
}

// normalNumber returns the text that DynamoDB would store for s. Plain short integers are the
// common case, and are returned unchanged.
func normalNumber(s string) (string, error) {
	if isPlainInteger(s) {
		return s, nil
	}
	n, err := parseNumber(s)
	if err != nil {
		return "", err
	}
	return n.String(), nil
}

func isPlainInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	if digits == "" || len(digits) > maxDigits || digits[0] == '0' {
		return s == "0"
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	return true
}

// numberSize returns the size of a stored number: one byte for every two significant digits before
// the decimal point, rounded up, likewise for those after it, one more byte, and another one if the
// number is negative. The zeros at the end of an integer do not count. s is in normal form. The
// developer guide leaves out that both sides of the point count apart, which was measured:
// https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier3/limits/numberByteSize.test.ts
func numberSize(s string) int {
	n, _ := ScanNumber(s)
	before := min(max(len(n.digits)+n.exp, 0), len(n.digits))
	size := 1 + (before+1)/2 + (len(n.digits)-before+1)/2
	if n.neg {
		size++
	}
	return size
}
