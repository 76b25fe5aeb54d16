package value

import (
	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// These are DynamoDB's limits of keys, in bytes.
const (
	maxPartitionKeySize = 2048
	maxSortKeySize      = 1024
)

// Misfit is an error about a key or an index key that is missing, too long or of another type. An
// empty key is another error. For a single write a Misfit is a ValidationException. In a
// transaction it is the reason to cancel.
type Misfit struct{ error }

// Unwrap returns the ValidationException.
func (m Misfit) Unwrap() error { return m.error }

// Misfits returns a [Misfit] with that text.
func Misfits(format string, args ...any) error { return Misfit{api.Invalid(format, args...)} }

// CheckKey checks the text of one key attribute. partition tells a partition key from a sort key.
func CheckKey(name, s string, partition bool) error {
	switch {
	case s == "":
		return api.Invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty "+
			"string value. Key: %s", name)
	case partition && len(s) > maxPartitionKeySize:
		return Misfits("One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes")
	case !partition && len(s) > maxSortKeySize:
		return Misfits(
			"One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes")
	}
	return nil
}
