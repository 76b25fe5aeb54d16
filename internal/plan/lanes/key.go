package lanes

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Key returns where one aggregate item is stored. PK is A#<name>#<since>#<bucket> and #<value> for
// each By name. SK is the window. The values are already escaped, so a # always separates.
func Key(d *aggregate.Definition, bucket int, by []string, start int64) event.Key {
	var pk strings.Builder
	pk.Grow(64)
	pk.WriteString("A#")
	pk.WriteString(d.Name)
	pk.WriteByte('#')
	pk.WriteString(strconv.FormatInt(d.Since, 10))
	pk.WriteByte('#')
	pk.WriteString(strconv.Itoa(bucket))
	for _, value := range by {
		pk.WriteByte('#')
		pk.WriteString(value)
	}
	return event.Key{PK: pk.String(), SK: WindowText(start)}
}

// Group returns the values of a total's by as they were before they were escaped.
func Group(d *aggregate.Definition, escaped []string) map[string]string {
	by := make(map[string]string, len(d.By))
	for i, value := range escaped {
		if i < len(d.By) {
			if plain, err := url.PathUnescape(value); err == nil { // as keys.Escape escapes
				value = plain
			}
			by[d.By[i]] = value
		}
	}
	return by
}

// The secondary index of the aggregates table that keeps totals in order, and its attributes.
const (
	RankIndex      = "rank"
	RankAttribute  = "i:rank"  // S, its partition key: see [RankPartition]
	ScoreAttribute = "i:score" // N, its sort key: a copy of the value that the totals are ranked by
)

// RankPartition returns the partition of the index that holds a shard of one list of totals:
// <name>#<since>#<window>#<shard>, and #<value> for each name that the rank is within. within are
// these values, escaped, so a # always separates. window is text, as [WindowText] writes it.
func RankPartition(d *aggregate.Definition, window string, shard int, within []string) string {
	return strings.Join(append([]string{ID(d), window, strconv.Itoa(shard)}, within...), "#")
}

// RankOf returns the partition of the index that holds the total with this key.
func RankOf(d *aggregate.Definition, key event.Key) string {
	var within []string
	if len(d.Rank.Within) > 0 {
		within = Within(d, strings.Split(key.PK, "#")[4:])
	}
	return RankPartition(d, key.SK, ItemBucket(key, d.Rank.Shards), within)
}

// Within returns those of the values of by that the rank of the totals is within.
func Within(d *aggregate.Definition, by []string) (within []string) {
	for i, name := range d.By {
		if i < len(by) && slices.Contains(d.Rank.Within, name) {
			within = append(within, by[i])
		}
	}
	return within
}

// ID returns what identifies a generation: <name>#<since>.
func ID(d *aggregate.Definition) string { return d.Name + "#" + strconv.FormatInt(d.Since, 10) }

// ParseID reads what [ID] writes. It sets only Name and Since of the definition.
func ParseID(id string) (*aggregate.Definition, bool) {
	name, since, _ := strings.Cut(id, "#")
	n, err := strconv.ParseInt(since, 10, 64)
	d := &aggregate.Definition{Name: name, Since: n}
	return d, err == nil && ID(d) == id
}

// HeadKey returns where the head of a generation is stored.
func HeadKey(d *aggregate.Definition) event.Key { return event.Key{PK: "G#" + ID(d), SK: "-"} }

// PassShards is how many small items each generation has. They say whether its head must be told of
// what is behind.
const PassShards = 8

// PassKey returns where one of these small items is stored. shard is below [PassShards].
func PassKey(d *aggregate.Definition, shard int) event.Key {
	return event.Key{PK: "B#" + ID(d) + "#" + strconv.Itoa(shard), SK: "-"}
}

// EpochKey is where the highest epoch is stored that a streams handler has started with, and its
// generations.
var EpochKey = event.Key{PK: "E#", SK: "-"}

// SecretKey is where the check value of the secret of hmac is stored: the secret under which the
// keys of events were made.
var SecretKey = event.Key{PK: "K#", SK: "-"}

// HomeKey is where the events table says which Region is its home. No value in a key begins with
// %h, because Escape writes two hex digits after a %.
var HomeKey = event.Key{PK: "%home", SK: "-"}

// FileKey is where the pipeline.yaml is stored that the streams function runs.
var FileKey = event.Key{PK: "F#", SK: "-"}

// WatchKey is where the last scheduled verification says what it has found. The state machine of
// cmd/worker writes it too.
var WatchKey = event.Key{PK: "V#", SK: "-"}

// ParseKey splits the key of an aggregate item. ok is false for keys of heads, receipts and foreign
// items. A key that spells a number differently than [Key] does is foreign.
func ParseKey(key event.Key) (a aggregate.Address, ok bool) {
	parts := strings.Split(key.PK, "#")
	if len(parts) < 4 || parts[0] != "A" {
		return a, false
	}
	var errs [3]error
	a.Name = parts[1]
	a.Since, errs[0] = strconv.ParseInt(parts[2], 10, 64)
	a.Bucket, errs[1] = strconv.Atoi(parts[3])
	a.Window, errs[2] = ParseWindow(key.SK)
	a.By = parts[4:]
	return a, errs == [3]error{} && strconv.FormatInt(a.Since, 10) == parts[2] && strconv.Itoa(a.Bucket) == parts[3]
}

// ItemKey returns where the total of an item's contribution is stored, if the item and not a shard
// of the stream decides: under receipts, and for totals that move with the put. An item always
// moves the same share of a total that is spread.
func ItemKey(item event.Key, c *aggregate.Contribution) event.Key {
	bucket := 0
	if c.Def.Spread > 1 {
		bucket = ItemBucket(item, c.Def.Spread)
	}
	return Key(c.Def, bucket, c.By, c.Window)
}
