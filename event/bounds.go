package event

import "fmt"

// These are the bounds of a number that can be summed or stored.
const (
	maxDecimals  = 9
	maxSummed    = 18 // power of ten
	leastStored  = -130
	beyondStored = 126

	roundIt    = "round it at the producer"
	largerUnit = "have the producer send it in a larger unit"
)

// Summable reports whether d may be summed: it is at most 10^18 in size and has at most 9 decimals.
// The sum of ten billion such numbers is still [Decimal.Storable].
func (d Decimal) Summable() bool {
	if d.IsZero() {
		return true
	}
	if d.exp < -maxDecimals {
		return false
	}
	m := d.magnitude()
	return m < maxSummed || m == maxSummed && d.small == u128{lo: 1}
}

// Unsummable returns text that says which bound of [Decimal.Summable] d breaks and what to do about
// it, for use after the name of a field: "has 12 decimals, …". It returns "" if d is summable.
func (d Decimal) Unsummable() string {
	switch {
	case d.Summable():
		return ""
	case d.exp < -maxDecimals:
		return fmt.Sprintf("has %d decimals, and a sum takes at most %d; %s", -d.exp, maxDecimals, roundIt)
	}
	return fmt.Sprintf("is beyond 10^%d, the most that a sum takes; %s", maxSummed, largerUnit)
}

// Storable reports whether DynamoDB can store d: it is 0, or it has at most 38 significant digits
// and a size from 1e-130 to below 1e126 (developer guide, "Data types").
func (d Decimal) Storable() bool {
	if d.IsZero() {
		return true
	}
	m := d.magnitude()
	return d.large == "" && leastStored <= m && m < beyondStored
}

// Unstorable returns text that says which bound of [Decimal.Storable] d breaks, as
// [Decimal.Unsummable] does. It returns "" if d is storable.
func (d Decimal) Unstorable() string {
	switch {
	case d.Storable():
		return ""
	case d.magnitude() >= beyondStored:
		return fmt.Sprintf("is 1e%d or more in size, and DynamoDB stores less; %s", beyondStored, largerUnit)
	case d.magnitude() < leastStored:
		return fmt.Sprintf("is below 1e%d in size, the least that DynamoDB stores; %s", leastStored, roundIt)
	}
	return fmt.Sprintf("has %d significant digits, and DynamoDB stores %d; %s", d.len(), smallDigits, roundIt)
}
