package integration

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/integration/contract"
	"github.com/ingot-events/ingot/integration/twin"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/prove/peers/endpoint"
)

// streamLength is how many requests a stream has.
const streamLength = 40

// TestTwins sends the same random streams of requests to the engine and to an emulator.
// INGOT_STREAMS is how many streams. INGOT_SEED replays one.
func TestTwins(t *testing.T) {
	t.Run("dynoxide", func(t *testing.T) {
		live(t, dynoxide(t), 60, 800, twin.Leniency{})
	})
	t.Run(endpointName(), func(t *testing.T) {
		live(t, endpointHarness(t), 5, 25, twin.Leniency{Cancelled: true, Twice: true})
	})
}

// live sends few streams, or many if INTEGRATION_REQUIRED=1.
func live(t *testing.T, h *contract.Harness, few, many int, l twin.Leniency) {
	t.Helper()
	w, err := twin.New(t.Context(), twin.Side{Name: "the engine", DB: embedded.New(embedded.Config{}).DynamoDB()},
		twin.Side{Name: h.Backend, DB: h.DynamoDB}, h.Name(t), l)
	must.Succeed(t, err)
	seed, streams := uint64(time.Now().UnixNano()), few
	if endpoint.Required() {
		streams = many
	}
	streams = int(fromEnv(t, "INGOT_STREAMS", uint64(streams)))
	if replayed := fromEnv(t, "INGOT_SEED", 0); replayed != 0 {
		seed, streams = replayed, 1
	}
	began, lost := time.Now(), 0
	for i := range uint64(streams) {
		ops := twin.Stream(seed+i, streamLength)
		first := w.Live(t.Context(), ops)
		if first == "" {
			continue
		}
		less := w.Shrink(t.Context(), ops)
		if len(less) == len(ops) && w.Live(t.Context(), ops) == "" {
			// An emulator under load may lose an answer. Then the SDK asks again, and meets its own
			// write.
			if lost++; lost > 1 {
				t.Fatalf("%s\n\nand no difference when the same is sent again (seed %d), for the second time in this run", first, seed+i)
			}
			t.Logf("seed %d: no difference when the same was sent again: %s", seed+i, first)
			continue
		}
		t.Fatalf("%s\n\nall that it takes:\n%s\n\nreplay: INGOT_SEED=%d go test -run '^%s$' ./integration", w.Live(t.Context(), less),
			twin.Describe(less), seed+i, strings.ReplaceAll(t.Name(), "/", "$/^"))
	}
	items, difference, err := w.Whole(t.Context())
	if err != nil || difference != "" {
		t.Fatal(difference, err)
	}
	t.Logf("%d streams of %d requests from seed %d on: the same answers, and the same %d items in the end (%v)", streams, streamLength,
		seed, items, time.Since(began).Round(time.Millisecond))
}

func fromEnv(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s is %q: write a number", name, text)
	}
	return v
}
