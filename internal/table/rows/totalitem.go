package rows

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

func FlagText(at time.Time, reason string) string {
	return at.UTC().Format("2006-01-02T15:04:05Z") + " " + reason
}

// StoredTotal is one item of the aggregates table. It is a whole total or, if the aggregate
// declares spread, one of the buckets that [Total] adds up.
type StoredTotal struct {
	Address   aggregate.Address
	Values    map[string]event.Decimal
	Texts     map[string]string // values whose operation is [aggregate.Op.Textual], as amounts have them; nil if there are none
	N         int64             // contributions counted and not taken back
	FP, FPX   event.Decimal     // the fingerprint of these contributions, and the expired part of it
	Flag      string            // why the values are not proven; empty if they are
	Accepted  string            // when and by whom a flag was accepted, and the flag; empty if none was
	Large     string            // the warning that the item may soon be too large for updates; empty if there is none
	ExpiresAt int64             // epoch seconds; 0: never
	Marks     int               // lanes whose marks it carries
	// Rank is the item's partition in the index that ranks totals, and Score is the copy of the
	// value that it is ranked by. They are empty and nil if the total is not ranked.
	Rank  string
	Score *event.Decimal
}

// Flags returns why the values are not proven, and the warning that the item is large.
func (t *StoredTotal) Flags() (list []string) { return Flags(t.Flag, t.Accepted, t.Large) }

func Flags(flag, accepted, more string) (list []string) {
	if accepted != "" {
		accepted = "accepted " + accepted
	}
	return slices.DeleteFunc([]string{flag, accepted, more}, func(text string) bool { return text == "" })
}

// readText keeps the text of a value. It skips the item's own attributes, whose names no value can
// have.
func (t *StoredTotal) readText(name, value string) {
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
func ReadTotal(img Image) (t StoredTotal, ok bool) {
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
			t.readText(name, s.Value)
			continue
		}
		if b, ok := v.(*types.AttributeValueMemberB); ok {
			t.readText(name, string(b.Value))
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
		t.readText(value, b.Text())
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

// LargeTotal is the size in bytes from which an aggregate item says that it is large. From
// [event.MaxItem] the table refuses its updates for good. It takes a while until marks fill the
// space between the two sizes.
const LargeTotal = 300 << 10

// LargeAttribute holds the warning. It is not the flag: the values are as they should be.
const LargeAttribute = "i:large"

// BucketPrefix begins the names of attributes with the count of one bucket: h:<value>:<bucket>.
const BucketPrefix = "h:"
