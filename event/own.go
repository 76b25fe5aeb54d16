package event

import (
	"slices"
	"strconv"
	"strings"
)

// OwnAttributes are the attributes that the items of events may have beside their index keys and the declared ones. No
// declared attribute has such a name.
var OwnAttributes = []string{"PK", "SK", "type", "id", "at", "digest", "epoch", "expiresAt", "revision", "meta", "data"}

// ownPrefix begins the names of attributes that Ingot adds to some items only.
const ownPrefix = "i:"

// IsOwnAttribute reports whether an item's attribute of this name is Ingot's own, and not a declared one.
func IsOwnAttribute(name string) bool {
	if slices.Contains(OwnAttributes, name) || strings.HasPrefix(name, ownPrefix) {
		return true
	}
	index, isKey := strings.CutSuffix(name, "PK")
	if !isKey {
		index, isKey = strings.CutSuffix(name, "SK")
	}
	return isKey && IsIndex(index)
}

// IsIndex reports whether name is that of a secondary index: GSI1 to GSI20.
func IsIndex(name string) bool {
	digits, ok := strings.CutPrefix(name, "GSI")
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n >= 1 && n <= 20 && digits == strconv.Itoa(n)
}
