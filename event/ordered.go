package event

// AppendOrdered appends d, which DynamoDB can store (see [Decimal.Unstorable]), as text whose byte order is the order of
// the numbers: a digit for negative, zero or positive, three digits for the size, then the digits. Those of a negative
// number are each 9 less themselves, and ~ ends them. No text holds a comma, and a comma sorts before all of their signs.
func (d Decimal) AppendOrdered(dst []byte) []byte {
	const middle = 500 // sizes are from -130 to 125
	switch d.Sign() {
	case 0:
		return append(dst, '2')
	case 1:
		return d.appendDigits(appendThree(append(dst, '3'), middle+d.magnitude()))
	}
	dst = appendThree(append(dst, '1'), middle-d.magnitude())
	from := len(dst)
	dst = d.appendDigits(dst)
	for i := from; i < len(dst); i++ {
		dst[i] = '0' + '9' - dst[i]
	}
	return append(dst, '~')
}

// BelowOrdered sorts before every text of [Decimal.AppendOrdered].
const BelowOrdered = "0"

func appendThree(dst []byte, n int64) []byte {
	return append(dst, byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
}
