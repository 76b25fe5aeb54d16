package ingottest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/testworld"
)

// TestEveryFaultWithCompressedPayloads deploys compress over items that are stored as they are, and
// takes it out again. Whatever goes wrong on the way, an event is one item with one payload,
// whichever form it has.
func TestEveryFaultWithCompressedPayloads(t *testing.T) {
	large := func(id string, cents int, escape string) string {
		return fmt.Sprintf(`{"type":"order.placed","merchant":"m1","id":%q,"at":"2026-03-01T10:00:00Z","cents":%d,"text":"%s"}`, id, cents,
			strings.Repeat("lorem"+escape+"ipsum", 400))
	}
	EveryFault(t, Config{Pipeline: compile(t, spec())}, func(t *testing.T, w *World) {
		w.handled(large("before", 1, " "))
		packed := spec()
		packed.Epoch = 2
		order := packed.Events["order.placed"]
		order.Compress = true
		packed.Events["order.placed"] = order
		w.Deploy(compile(t, packed))
		w.handled(large("before", 1, `\u0020`), large("packed", 20, " "), large("packed", 20, `\u0020`), large("packed", 21, " "))
		plain := spec()
		plain.Epoch = 2
		w.Deploy(compile(t, plain))
		w.Send(large("packed", 20, `\u0020`), large("after", 300, " "))
		w.Redeliver()
		w.Drain()
		if v := w.Verdicts(); v[event.Conflict] == 0 || v[event.Poison] != 0 {
			t.Errorf("verdicts %v", v)
		}
		for _, item := range w.Items() {
			if (item.Packed != nil) != (item.ID == "packed") || !strings.HasPrefix(item.Data, `{"type":"order.placed"`) {
				t.Errorf("%s: packed %v, payload %.60s", item.ID, item.Packed != nil, item.Data)
			}
		}
		w.counts(t, 3, "3 orders, 321 cents")
		data := w.world.Get(t, stack.Events, testworld.Key("ORDER#packed", "ORDER"))["data"]
		if _, ok := data.(*types.AttributeValueMemberB); !ok {
			t.Errorf("the payload is stored as %T", data)
		}
		w.Advance(91 * day)
		w.Sweep()
		w.Drain()
		must.Equal(t, len(w.Archived()), 3)
	})
}
