package check

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// A longer retain needs an entry in was. The entry that the message shows is accepted where it is
// pasted.
func TestWasOfALongerRetain(t *testing.T) {
	const declared = "    retain: 90d                                 # the item"
	in := own{pipeline: [][2]string{{declared, "    retain: 120d # the item"}}}.input(t)
	in.Was = &textfile.File{Name: "old.yaml", Text: []byte(read(t, "pipeline.yaml"))}
	in.Now = time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	r := run(t, in)
	want := "pipeline.yaml:" + place(t, string(in.Pipeline.Text), "|retain: 120d") +
		": events.order.placed: retain was 90d and is 120d; write was: [{retain: 90d, before: 2026-03-03T00:00:00Z}] in this event type"
	if len(r.Findings) != 1 || r.Clean() || r.Findings[0].Severity != rules.Change || !strings.HasPrefix(r.Findings[0].String(), want) {
		t.Fatalf("got  %v\nwant %s…", r.Findings, want)
	}
	shown := regexp.MustCompile(`was: \[[^]]*\]`).FindString(r.Findings[0].What)
	in.Pipeline.Text = []byte(strings.Replace(string(in.Pipeline.Text), "    retain: 120d # the item", "    retain: 120d # the item\n    "+
		shown+" #", 1))
	if r := run(t, in); len(r.Findings) != 0 {
		t.Errorf("pasted, %v", r.Findings)
	}
	in.Now = in.Now.AddDate(0, 0, 3) // it was not deployed in time
	if r := run(t, in); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].What, "before: 2026-03-06T00:00:00Z}") {
		t.Errorf("three days later, %v", r.Findings)
	}
}
