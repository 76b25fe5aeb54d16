package changes

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// TestIndexes compares what an index was with what it is.
func TestIndexes(t *testing.T) {
	at := func(s pipeline.IndexSpec) *pipeline.Pipeline {
		p, err := pipeline.New(pipeline.Spec{Ingot: 1, Epoch: 1, Events: map[string]pipeline.EventSpec{"e": {ID: "{id}", At: "{at}",
			Key: pipeline.KeySpec{PK: "E#{id}", SK: "-"}, Indexes: map[string]pipeline.IndexSpec{"GSI1": s}}}})
		must.Succeed(t, err)
		return p
	}
	day := func(shard string) string { return "DAY#{@at | day}#{id | shard:" + shard + "}" }
	for name, c := range map[string]struct {
		was, is pipeline.IndexSpec
		kind    Kind
		says    string
	}{
		"the same": {pipeline.IndexSpec{PK: day("8"), SK: "{id}"}, pipeline.IndexSpec{PK: "DAY#{ @at|day }#{id|shard:8}", SK: "{id}"},
			"", ""},
		"more shards": {pipeline.IndexSpec{PK: day("8"), SK: "{id}"}, pipeline.IndexSpec{PK: day("16"), SK: "{id}"}, Index,
			"nothing needs to be done"},
		"fewer shards": {pipeline.IndexSpec{PK: day("16"), SK: "{id}"}, pipeline.IndexSpec{PK: day("8"), SK: "{id}"}, Shards,
			"would no longer read the items in the shards that are left out"},
		"fewer and was": {pipeline.IndexSpec{PK: day("16"), SK: "{id}"},
			pipeline.IndexSpec{PK: day("8"), SK: "{id}", Was: []string{day("16")}}, Index, "was has it"},
		"another pk": {pipeline.IndexSpec{PK: "A#{id}", SK: "{id}"}, pipeline.IndexSpec{PK: "B#{id}", SK: "{id}"}, Index,
			"put the old pk into was"},
		"pk and was": {pipeline.IndexSpec{PK: "A#{id}", SK: "{id}"},
			pipeline.IndexSpec{PK: "B#{id}", SK: "{id}", Was: []string{"A#{ id }"}}, Index, "was has it"},
		"was is gone": {pipeline.IndexSpec{PK: "B#{id}", SK: "{id}", Was: []string{"A#{id}"}}, pipeline.IndexSpec{PK: "B#{id}", SK: "{id}"},
			Index, "no item is stored under it any more"},
		"where": {pipeline.IndexSpec{PK: "A#{id}", SK: "{id}"}, pipeline.IndexSpec{PK: "A#{id}", SK: "{id}", Where: "n > 1"}, Index,
			"stay in the index or out of it"},
	} {
		list := Between(at(c.was), at(c.is), time.Now())
		switch {
		case c.kind == "" && len(list) == 0:
		case len(list) != 1 || list[0].Kind != c.kind || !strings.Contains(list[0].Do, c.says):
			t.Errorf("%s: %v", name, list)
		}
	}
}
