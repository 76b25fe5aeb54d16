package rehearse

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/handler"
	"github.com/ingot-events/ingot/internal/kit/golden"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/pipeline"
)

// Each file in testdata/producers declares the events of a public producer. Its messages come in
// several groupings and spellings, as that producer documents them, and beside them is what becomes
// of each event.
func TestProducers(t *testing.T) {
	files, err := filepath.Glob("testdata/producers/*.yaml")
	must.Succeed(t, err)
	if len(files) < 10 {
		t.Fatalf("%d producers", len(files))
	}
	now := must.Time("2026-03-01T12:00:00Z")
	for _, file := range files {
		p, err := pipeline.Load(os.DirFS("."), file)
		must.Succeed(t, err)
		r, err := New(p, now, func() time.Time { return now })
		must.Succeed(t, err)
		var said strings.Builder
		tell := func(o *handler.Outcome) {
			said.WriteString(o.Verdict.String())
			if o.Item != nil {
				said.WriteString(" " + o.Item.Key.String())
			} else if o.Verdict.Quarantined() {
				said.WriteString(" " + string(o.Refusal.Reason))
			}
			said.WriteByte('\n')
		}
		name := strings.TrimSuffix(file, ".yaml")
		for line := range strings.Lines(string(must.Read(t, name+".ndjson"))) {
			outcomes, err := r.Put([]envelope.Message{{Body: line}})
			must.Succeed(t, err)
			if outcomes[0].Events == nil {
				tell(&outcomes[0])
			}
			for i := range outcomes[0].Events {
				tell(&outcomes[0].Events[i])
			}
		}
		golden.File(t, name+".want", said.String())
	}
}
