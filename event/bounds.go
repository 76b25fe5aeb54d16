package event

import "fmt"

// What a number may be so that it can be summed or stored.
const (
	maxDecimals  = 9
	maxSummed    = 18 // power of ten
	leastStored  = -130
	beyondStored = 126

	roundIt    = "round it at the producer"
	largerUnit = "have the producer send it in a larger unit"
)

// Summable reports whether d may be summed: at most 10^18 in size and with at most 9 decimals. Ten billion
// such numbers add up to something that is Storable.
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

// Unsummable says which bound of Summable d breaks and what to do about it, to follow the field's name: "has 12
// decimals, …". Empty: none.
func (d Decimal) Unsummable() string {
	switch {
	case d.Summable():
		return ""
	case d.exp < -maxDecimals:
		return fmt.Sprintf("has %d decimals, and a sum takes at most %d; %s", -d.exp, maxDecimals, roundIt)
	}
	return fmt.Sprintf("is beyond 10^%d, the most that a sum takes; %s", maxSummed, largerUnit)
}

// Storable reports whether d is a number that DynamoDB can store: 0, or at most 38 significant digits and a
// size from 1e-130 to below 1e126 (developer guide, "Data types").
func (d Decimal) Storable() bool {
	if d.IsZero() {
		return true
	}
	m := d.magnitude()
	return d.large == "" && leastStored <= m && m < beyondStored
}

// Unstorable says which bound of Storable d breaks and what to do about it, as Unsummable does. Empty: none.
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
