package pipeline

import (
	"errors"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
)

const withBatches = `ingot: 1
epoch: 1
batches: true
type: "{type}"
events:
  order: {id: "{o}", at: "{at}", key: {pk: "O#{o}", sk: "O"}}
`

// What an array comes to is what its events come to alone, to the last field.
func TestPlanMessage(t *testing.T) {
	p := mustLoad(t, withBatches)
	one, other := `{"type":"order","o":1,"at":"2099-01-02T03:04:05Z"}`, `{ "type":"order" , "o":2,"at":"2099-01-02T03:04:05Z","x":[1, 2]}`
	item, list, err := p.PlanMessage(envelope.Message{Body: " [" + one + "\n,7," + other + "]"})
	if item != nil || err != nil || len(list) != 3 || list[1].Item != nil || list[1].Refusal == nil ||
		list[1].Refusal.Reason != event.NotAnObject {
		t.Fatalf("%+v, %+v, %v", item, list, err)
	}
	for i, body := range map[int]string{0: one, 2: other} {
		alone, err := p.Plan(envelope.Message{Body: body})
		if got := list[i].Item; err != nil || got == nil || got.Key != alone.Key || got.Digest != alone.Digest || got.Data != alone.Data ||
			got.ID != alone.ID || !got.At.Equal(alone.At) {
			t.Errorf("event %d is %+v, and alone %+v, %v", i, got, alone, err)
		}
	}
	if item, list, err := p.PlanMessage(envelope.Message{Body: one}); err != nil || list != nil || item == nil || item.ID != "1" {
		t.Errorf("one event: %+v, %+v, %v", item, list, err)
	}
	var refusal *event.Refusal
	if _, _, err := p.PlanMessage(envelope.Message{Body: "[]"}); !errors.As(err, &refusal) || refusal.Reason != event.BadArray {
		t.Errorf("an empty array: %v", err)
	}
	without := mustLoad(t, strings.Replace(withBatches, "batches: true\n", "", 1))
	if _, list, err := without.PlanMessage(envelope.Message{Body: "[" + one + "]"}); list != nil || !errors.As(err, &refusal) ||
		refusal.Reason != event.NotAnObject {
		t.Errorf("without batches: %+v, %v", list, err)
	}
	if len(p.Batches()) != 1 || without.Batches() != nil || p.Describe().Spec.Batches[0].Each != "." {
		t.Error("the pipeline does not say whether it takes arrays")
	}
}
