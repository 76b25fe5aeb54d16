package rows

import (
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/tables"
)

func FlagText(at time.Time, reason string) string {
	return at.UTC().Format("2006-01-02T15:04:05Z") + " " + reason
}

// readText keeps the text of a value. It skips the item's own attributes, whose names no value can
// have.
func readText(t *tables.StoredTotal, name, value string) {
	switch name {
	case "PK", "SK", "flag", AcceptedAttribute, LargeAttribute, lanes.RankAttribute:
		return
	}
	if t.Texts == nil {
		t.Texts = map[string]string{}
	}
	t.Texts[name] = value
}

// ReadTotal reads an aggregate item. ok is false for heads, receipts and items that are not
// Ingot's.
func ReadTotal(img Image) (t tables.StoredTotal, ok bool) {
	if t.Address, ok = lanes.ParseKey(KeyOf(img)); !ok {
		return t, false
	}
	t.Values = map[string]event.Decimal{}
	var buckets map[string]aggregate.Buckets
	for name, v := range img {
		if strings.HasPrefix(name, lanes.MarkPrefix) {
			t.Marks++
			continue
		}
		if s, ok := v.(*types.AttributeValueMemberS); ok {
			readText(&t, name, s.Value)
			continue
		}
		if b, ok := v.(*types.AttributeValueMemberB); ok {
			readText(&t, name, string(b.Value))
			continue
		}
		n, err := event.ParseDecimal(NumberOf(v))
		if err != nil || !n.Storable() { // Ingot never writes a number that a table cannot hold
			continue
		}
		if value, bucket, ok := bucketName(name); ok {
			if buckets == nil {
				buckets = map[string]aggregate.Buckets{}
			}
			if buckets[value] == nil {
				buckets[value] = aggregate.Buckets{}
			}
			buckets[value][bucket], _ = n.Int64()
			continue
		}
		switch name {
		case "n":
			t.N, _ = strconv.ParseInt(n.String(), 10, 64)
		case "fp":
			t.FP = n
		case "fpx":
			t.FPX = n
		case "expiresAt":
			t.ExpiresAt = IntegerOf(v)
		case lanes.ScoreAttribute:
			t.Score = &n
		default:
			t.Values[name] = n
		}
	}
	for value, b := range buckets {
		readText(&t, value, b.Text())
	}
	t.Rank = TextOf(img[lanes.RankAttribute])
	t.Flag, t.Accepted, t.Large = TextOf(img["flag"]), TextOf(img[AcceptedAttribute]), TextOf(img[LargeAttribute])
	return t, true
}

// bucketName splits the name of an attribute that counts one bucket.
func bucketName(name string) (value string, bucket int, ok bool) {
	rest, ok := strings.CutPrefix(name, BucketPrefix)
	if !ok {
		return "", 0, false
	}
	value, number, _ := strings.Cut(rest, ":")
	bucket, err := aggregate.ParseBucket(number)
	return value, bucket, err == nil
}

// AcceptedAttribute holds a flag that a person has accepted, with the time and the person.
const AcceptedAttribute = "i:accepted"

// LargeAttribute holds the warning. It is not the flag: the values are as they should be.
const LargeAttribute = "i:large"

// BucketPrefix begins the names of attributes with the count of one bucket: h:<value>:<bucket>.
const BucketPrefix = "h:"
