package check

import (
	"fmt"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/testworld/written"
)

// All writes of one moment have the same partition key if it has no other field than a time, apart
// from shards.
func TestMomentaryKeys(t *testing.T) {
	for pk, want := range map[string]string{"DAY#{@at|day}": "1 true", "{@type}#{@at|hour}#{id|shard:4}": "4 true", "O#{id}": "0 false",
		"X":          "1 true",
		"{@at|time}": "0 false", "{@at|day}#{id}": "0 false"} {
		shards, hot := momentary(pk)
		must.Equal(t, fmt.Sprint(shards, " ", hot), want, pk)
	}
}

// A partition that can have one event alone is priced as one item: if its key shows the id, or what
// a claim of the event shows. Other partitions have a page of 50.
func TestUnitsOfAUniqueKey(t *testing.T) {
	p := written.Pipeline(t, `ingot: 1
epoch: 1
type: "{type}"
events:
  user:
    id: "{user}"
    at: "{at}"
    key: {pk: "USER#{user}", sk: "{at | time}"}
    atomic: true
    indexes:
      GSI1: {pk: "EMAIL#{email | lower}", sk: "{@at|time}"}
      GSI2: {pk: "ID#{@id}", sk: "{@at|time}"}
      GSI3: {pk: "NAME#{name | lower}", sk: "{@at|time}"}
      GSI4: {pk: "PART#{@id | shard:4}", sk: "{@at|time}"}
  email: {part: {of: user, with: [email]}, id: "{email | lower}", key: {pk: "EMAIL#{email | lower}", sk: "-"}}
  seen: {id: "{user}", at: "{at}", key: {pk: "SEEN#{user}", sk: "-"}, indexes: {GSI2: {pk: "ID#{@id}", sk: "{@at|time}"}}}
patterns:
  own: {read: [user]}
  email: {read: [user], index: GSI1}
  id: {read: [user, seen], index: GSI2}
  name: {read: [user], index: GSI3}
  part: {read: [user], index: GSI4}
`)
	want := map[string]int{"own": 1, "email": 1, "id": 2, "name": 50, "part": 50}
	for _, pattern := range p.Patterns() {
		must.Equal(t, itemsOf(p, pattern), want[pattern.Name()], pattern.Name())
	}
	must.Equal(t, pricePattern(p, p.Patterns()[0], 0).Units, 0.5)
}
