package integration

import (
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
)

// TestTried lets the tool prove a deployment of the sample shop, while its functions run.
func TestTried(t *testing.T) {
	sampleshop.PipelineAtRoot(t, "..")
	e, _ := open(t)
	d := deploy(t, deployment{dir: "..", binaries: functions(t),
		parameters: map[string]string{"Counting": "receipts", "EndpointUrl": e.URL}})
	w := d.tool(e.URL, "..")
	end := d.deliver()
	_, err := d.streams.Invoke(t.Context(), []byte(`{"Records":[]}`), time.Minute) // it stores its pipeline.yaml
	must.Succeed(t, err)
	stdout, stderr, code := w.run(t.Context(), "try --number 24")
	end()
	if code != 0 || strings.Contains(stdout, "\nwrong") || strings.Count(stdout, "\nright") < 8 ||
		!strings.Contains(stdout, "an emulator") || !strings.Contains(stdout, "the stack counts by receipts") {
		t.Errorf("exit code %d\n%s%s", code, stdout, stderr)
	}
	for item, err := range d.store.Items(t.Context()) {
		t.Errorf("%v stays, %v", item, err)
	}
}
