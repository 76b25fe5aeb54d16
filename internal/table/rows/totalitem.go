package rows

import (
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
)

func FlagText(at time.Time, reason string) string {
	return at.UTC().Format("2006-01-02T15:04:05Z") + " " + reason
}

// AcceptedAttribute holds a flag that a person has accepted, with the time and the person.
const AcceptedAttribute = "i:accepted"

// LargeAttribute holds the warning. It is not the flag: the values are as they should be.
const LargeAttribute = "i:large"

// BucketPrefix begins the names of attributes with the count of one bucket: h:<value>:<bucket>.
const BucketPrefix = "h:"

// BucketName splits the name of an attribute that counts one bucket.
func BucketName(name string) (value string, bucket int, ok bool) {
	rest, ok := strings.CutPrefix(name, BucketPrefix)
	if !ok {
		return "", 0, false
	}
	value, number, _ := strings.Cut(rest, ":")
	bucket, err := aggregate.ParseBucket(number)
	return value, bucket, err == nil
}
