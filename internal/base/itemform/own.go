package itemform

import (
	"slices"
	"strconv"
	"strings"
)

// OwnAttributes are the attributes that items of events may have, in addition to their index keys
// and the declared attributes. A declared attribute must not have such a name.
var OwnAttributes = []string{"PK", "SK", "type", "id", "at", "digest", "epoch", "expiresAt", "revision", "meta", "data"}

// Payload is the attribute of an item whose payload is in the payload bucket: the SHA-256 of the
// payload's bytes.
const Payload = "i:payload"

// Barred is the attribute of an item that only bars the key of an event that was erased.
const Barred = "i:barred"

// Migrated is the attribute of what a migration has written: the copy of a row of another table, or
// a tombstone. Each write draws it anew.
const Migrated = "i:migrated"

// ownPrefix begins the names of attributes that Ingot adds only to some items.
const ownPrefix = "i:"

// IsOwnAttribute reports whether the attribute of this name is Ingot's own, and not a declared one.
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

// IsIndex reports whether name is the name of a secondary index: GSI1 to GSI20.
func IsIndex(name string) bool {
	digits, ok := strings.CutPrefix(name, "GSI")
	n, err := strconv.Atoi(digits)
	return ok && err == nil && n >= 1 && n <= 20 && digits == strconv.Itoa(n)
}
