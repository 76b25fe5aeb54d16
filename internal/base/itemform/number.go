package itemform

import (
	"strconv"
	"strings"
)

// NumberSize returns the stored size of a number that is written in plain or exponent form. The
// digits before the decimal point take a byte for every two, rounded up, and so do those after it.
// Zeros before the first digit that is not 0, and after the last, do not count. A number takes one
// byte more, and another one if it is negative. So 15 takes two bytes, 1.5 three and 0 one.
//
// The developer guide does not say that the digits before and after the point count apart. It was
// measured on the service:
// https://github.com/nubo-db/dynamodb-conformance/blob/main/tests/tier3/limits/numberByteSize.test.ts
func NumberSize(text string) int {
	digits, negative := strings.CutPrefix(text, "-")
	point := 0 // how many digits stand before it; it can be outside of the digits
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		point, _ = strconv.Atoi(digits[i+1:])
		digits = digits[:i]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	point += len(whole)
	digits = whole + fraction
	significant := strings.TrimLeft(digits, "0")
	point -= len(digits) - len(significant)
	significant = strings.TrimRight(significant, "0")
	if significant == "" {
		return 1
	}
	before := min(max(point, 0), len(significant))
	size := 1 + (before+1)/2 + (len(significant)-before+1)/2
	if negative {
		size++
	}
	return size
}

// MaxTransaction is how many bytes the items of one transaction may take together. DynamoDB's 4 MB
// could mean 4,000,000 bytes or 4 MiB. This is the smaller one.
const MaxTransaction = 4_000_000

// WriteUnits returns what one put of an item of this many bytes costs on the table, and on each
// index that holds the item.
func WriteUnits(size int) int { return max(1, (size+1023)/1024) }

// InTransaction is how many times as much a write costs in a transaction.
const InTransaction = 2

// ReadUnits returns what a consistent read of so many bytes costs: a unit for each started 4 KB.
func ReadUnits(size int) float64 { return float64(max(1, (size+4095)/4096)) }
