package cost

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
)

const withStates = `
ingot: 1
epoch: 1
type: "{type}"
events:
  reading: {id: "{id}", at: "{at}", key: {pk: "READING#{id}", sk: "-"}}
  device:
    part: {of: reading, with: [device, value]}
    id: "{device}"
    key: {pk: "DEVICE#{device}", sk: "NOW"}
    mode: latest
    revision: value number
  alarm:
    id: "{id}"
    at: "{at}"
    key: {pk: "ALARM#{id}", sk: "-"}
    requires: [{type: reading, key: {id: "{reading}"}}]
`

func reading(id int, device, note string) string {
	return fmt.Sprintf(`{"type":"reading","id":"%04d","device":%q,"value":%d,"note":%q,"at":"2026-03-14T09:00:%02dZ"}`, id, device, 10+id%90,
		note, id%60)
}

func alarm(id, reading int) string {
	return fmt.Sprintf(`{"type":"alarm","id":"%04d","reading":"%04d","at":"2026-03-14T09:00:00Z"}`, id, reading)
}

// A state is stored once, however often it is replaced.
func TestStatesAreStoredOnce(t *testing.T) {
	in, bytes := input(t, withStates), 0
	var list []string
	for i := range 6 {
		list = append(list, reading(i, string(rune('a'+i%2)), ""))
		item, err := in.Pipeline.Plan(envelope.Message{Body: list[i]})
		must.Succeed(t, err)
		if bytes += item.Size() + storageOverhead; i < 2 {
			bytes += item.Parts.Items[0].Size() + storageOverhead
		}
	}
	got := of(computed(t, in, strings.Join(list, "\n")), "storage", "GB-months of backup")
	if want := float64(bytes) / 6 * 1e6 / gigabyte; got < want*0.999 || got > want*1.001 {
		t.Errorf("%v GB-months, want %v", got, want)
	}
}

// A batch reads each event that is required once: a hundred keys with a request, and a unit for
// each started 4 KB.
func TestReadsOfRequires(t *testing.T) {
	in := input(t, withStates)
	s := &sampled{in: in, required: required{sizes: map[event.Key]int{}}}
	batch := func(lines ...string) {
		list := make([][]event.Planned, len(lines))
		for i, line := range lines {
			list[i] = in.Pipeline.PlanEach(envelope.Message{Body: line})
		}
		s.look(list)
	}
	batch(reading(1, "a", strings.Repeat("x", 9000)), alarm(0, 1)) // it brings what it needs
	must.Equal(t, s.required.units, 0)
	var lines []string
	for i := range 250 {
		lines = append(lines, alarm(i, 1+i%220)) // the first has 9 KB, and 30 are asked for twice
	}
	batch(slices.Concat(lines, []string{reading(2, "a", "")})...)
	must.Equal(t, s.required.units, 218+3)
	must.Equal(t, s.required.requests, 3)
	batch(lines[0])
	must.Equal(t, s.required.requests, 4)

	in.Rate = 1 // batches of one
	r := computed(t, in, alarm(1, 1)+"\n"+alarm(2, 1))
	must.Equal(t, of(r, "requires", "read units"), 1e6)
	must.Equal(t, of(r, "requires", "DynamoDB requests"), 1e6)
}
