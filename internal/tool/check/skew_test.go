package check

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// Without a rate, a sample of a thousand items warns of an index in which few keys take all of
// them, or one takes most.
func TestSkewWithoutARate(t *testing.T) {
	file := textfile.File{Name: "pipeline.yaml", Text: []byte(`ingot: 1
epoch: 1
type: "{type}"
events:
  reading: {id: "{n}", at: "{t}", key: {pk: "R#{n}", sk: "-"}, indexes: {GSI1: {pk: "CITY#{city}", sk: "{@at | time}"}}}
patterns:
  city: {read: [reading], index: GSI1}
`)}
	p, err := file.Load(pipeline.CheckOnly())
	must.Succeed(t, err)
	now := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		items int
		city  func(i int) int
		want  string
	}{
		"most have one": {1000, func(i int) int { return max(0, i-600) },
			"601 of 1,000 items of s in GSI1 have one partition key"},
		"half have one":           {1000, func(i int) int { return max(0, i-499) }, ""},
		"few keys":                {1000, func(i int) int { return i % 9 }, "1,000 items of s have 9 partition keys in GSI1"},
		"a sample that says less": {900, func(i int) int { return i % 9 }, ""},
	} {
		var b strings.Builder
		for i := range c.items {
			fmt.Fprintf(&b, `{"type":"reading","n":"%d","t":"2026-03-01T00:00:00Z","city":"c%d"}`+"\n", i, c.city(i))
		}
		events, err := (&sample.Sampler{Pipeline: p, Now: now}).Read("s", strings.NewReader(b.String()))
		must.Succeed(t, err)
		r, err := Run(Input{Pipeline: file, Events: events, Now: now, Partitions: 4})
		must.Succeed(t, err)
		var said []string
		for _, f := range r.Findings {
			if f.Rule == "skew" {
				said = append(said, f.String())
			}
		}
		if text := strings.Join(said, "\n"); c.want == "" && text != "" || !strings.Contains(text, c.want) || len(said) > 1 {
			t.Errorf("%s: %q, want %q", name, text, c.want)
		}
	}
}
