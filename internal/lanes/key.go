package lanes

import (
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
)

// Key is where one aggregate item lives: PK is A#<name>#<since>#<bucket> and #<value> for each By name,
// SK is the window. The values are escaped already, so a # always separates.
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

// ID is what identifies a generation: <name>#<since>.
func ID(d *aggregate.Definition) string { return d.Name + "#" + strconv.FormatInt(d.Since, 10) }

// ParseID reads what ID writes; of the definition only Name and Since are set.
func ParseID(id string) (*aggregate.Definition, bool) {
	name, since, _ := strings.Cut(id, "#")
	n, err := strconv.ParseInt(since, 10, 64)
	d := &aggregate.Definition{Name: name, Since: n}
	return d, err == nil && ID(d) == id
}

// HeadKey is where the head of a generation is stored.
func HeadKey(d *aggregate.Definition) event.Key { return event.Key{PK: "G#" + ID(d), SK: "-"} }

// PassShards is how many small items each generation has that say whether its head has to be told of what is behind.
const PassShards = 8

// PassKey is where one of them lives; shard is below PassShards.
func PassKey(d *aggregate.Definition, shard int) event.Key {
	return event.Key{PK: "B#" + ID(d) + "#" + strconv.Itoa(shard), SK: "-"}
}

// EpochKey is where the highest epoch that a streams handler has started with is kept, and its generations.
var EpochKey = event.Key{PK: "E#", SK: "-"}

// SecretKey is where the check value of the secret of hmac is kept, under which the keys of events were made.
var SecretKey = event.Key{PK: "K#", SK: "-"}

// ParseKey takes an aggregate item's key apart; ok is false for keys of heads, receipts and foreign items, among
// which are those that spell a number otherwise than Key does.
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
