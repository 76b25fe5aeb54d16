package value

import "strings"

// WriteUnits returns one unit for each started KB, and at least one.
func WriteUnits(size int) float64 { return float64(max(1, (size+1023)/1024)) }

// ReadUnits returns one unit for each started 4 KB, and at least one. An eventually consistent read
// costs half.
func ReadUnits(size int, consistent bool) float64 {
	units := float64(max(1, (size+4095)/4096))
	if !consistent {
		units /= 2
	}
	return units
}

const nameCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"

// WrongTable returns what is wrong with the name of a table, or an empty text.
func WrongTable(name string) string {
	switch {
	case name == "":
		return "Member must have length greater than or equal to 1"
	case strings.Trim(name, nameCharacters) != "":
		return "Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
	case len(name) < 3:
		return "Member must have length greater than or equal to 3"
	case len(name) > 255:
		return "Member must have length less than or equal to 255"
	}
	return ""
}
