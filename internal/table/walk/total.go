package walk

import (
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// readText keeps the text of a value. It skips the item's own attributes, whose names no value can
// have.
func readText(t *tables.StoredTotal, name, value string) {
	switch name {
	case "PK", "SK", "flag", rows.AcceptedAttribute, rows.LargeAttribute, lanes.RankAttribute:
		return
	}
	if t.Texts == nil {
		t.Texts = map[string]string{}
	}
	t.Texts[name] = value
}

// ReadTotal reads an aggregate item. ok is false for heads, receipts and items that are not
// Ingot's.
func ReadTotal(img rows.Image) (t tables.StoredTotal, ok bool) {
	if t.Address, ok = lanes.ParseKey(rows.KeyOf(img)); !ok {
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
		n, err := event.ParseDecimal(rows.NumberOf(v))
		if err != nil || !n.Storable() { // Ingot never writes a number that a table cannot hold
			continue
		}
		if value, bucket, ok := rows.BucketName(name); ok {
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
			t.ExpiresAt = rows.IntegerOf(v)
		case lanes.ScoreAttribute:
			t.Score = &n
		default:
			t.Values[name] = n
		}
	}
	for value, b := range buckets {
		readText(&t, value, b.Text())
	}
	t.Rank = rows.TextOf(img[lanes.RankAttribute])
	t.Flag, t.Accepted, t.Large = rows.TextOf(img["flag"]), rows.TextOf(img[rows.AcceptedAttribute]), rows.TextOf(img[rows.LargeAttribute])
	return t, true
}
