package event

// AppendOrdered appends d as text whose byte order is the order of the numbers. DynamoDB must be
// able to store d (see [Decimal.Storable]). The text is a digit for negative, zero or positive,
// then three digits for the size, then the digits. In a negative number, each digit is replaced by
// 9 minus itself, and ~ ends the text. These texts never contain a comma, and a comma sorts before
// every character that they contain.
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

func appendThree(dst []byte, n int64) []byte {
	return append(dst, byte('0'+n/100%10), byte('0'+n/10%10), byte('0'+n%10))
}
