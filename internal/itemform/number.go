package itemform

import "strings"

// NumberSize returns the stored size of a number that is written in plain or exponent form: a byte
// for every two significant digits, rounded up, one more, and one more if the number is negative.
func NumberSize(text string) int {
	digits, negative := text, false
	if rest, ok := strings.CutPrefix(text, "-"); ok {
		digits, negative = rest, true
	}
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		digits = digits[:i]
	}
	digits = strings.Trim(strings.Replace(digits, ".", "", 1), "0")
	size := (len(digits)+1)/2 + 1
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
