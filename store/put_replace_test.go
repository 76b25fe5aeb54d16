package store_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/packed"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// A newer revision meets an item that has the attributes of this version in another form, as a
// person or a newer version writes them. It must not be tried again and again, which would cost the
// batch all of its time: the item is replaced, or, if it cannot be read, judged.
func TestReplaceWhatIsOddlyStored(t *testing.T) {
	type image = attrs
	long := `"note":"` + strings.Repeat("x", 5000) + `"`
	for name, c := range map[string]struct {
		alter     func(image)
		newerForm bool // this version cannot read it
	}{
		"packed payload": {func(img image) {
			img["data"] = &types.AttributeValueMemberB{Value: packed.Pack(rows.TextOf(img["data"]))}
		}, false},
		"ties as a number": {func(img image) { img["i:revision"] = numberValue("7") }, true},
		"ties as a list":   {func(img image) { img["i:revision"] = &types.AttributeValueMemberL{} }, true},
		"empty ties":       {func(img image) { img["i:revision"] = &types.AttributeValueMemberS{} }, true},
		"other ties":       {func(img image) { img["i:revision"] = textValue("x") }, false},
	} {
		for _, stamp := range []string{"1", "2"} { // the pipeline is at epoch 1
			for _, n := range []int{1, 40} { // alone, and together
				t.Run(fmt.Sprintf("%s, epoch %s, %d items", name, stamp, n), func(t *testing.T) {
					w := newWorld(t, func(s *setup) {
						e := s.Events["parcel"]
						e.Revision = "rev number\nb number"
						s.Events["parcel"] = e
					})
					var newer events
					for i := range n {
						first := w.parcel(fmt.Sprint(i), 3, long, `"b":1`)
						w.keep(first)
						img := maps.Clone(w.stored("events", first.Key))
						c.alter(img)
						img["epoch"] = &types.AttributeValueMemberN{Value: stamp}
						w.put("events", img)
						newer = append(newer, w.parcel(fmt.Sprint(i), 4, long, `"b":3`))
					}
					want, before := event.Updated, w.Engine.Usage().Requests["PutItem"]
					if c.newerForm && stamp == "2" {
						want = event.Retry
					}
					results, _ := w.arrive(newer...)
					for _, r := range results {
						if r.Verdict != want || want == event.Retry && r.Refusal.Reason != event.NewerStamp {
							t.Fatalf("%s (%v), want %s", r.Verdict, r.Refusal, want)
						}
					}
					if puts := w.Engine.Usage().Requests["PutItem"] - before; puts > int64(3*n) {
						t.Errorf("%d puts of %d items", puts, n)
					}
				})
			}
		}
	}
}
