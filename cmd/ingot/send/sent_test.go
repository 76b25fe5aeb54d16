package send

import (
	"strings"
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// How fast it was is said where it can be told: from a second on.
func TestSendSaysHowFastItWas(t *testing.T) {
	for _, c := range []struct {
		report sentReport
		want   string
	}{
		{sentReport{Sent: 1, Seconds: 0.002}, "1 event sent\n"},
		{sentReport{Sent: 400, Seconds: 0.99}, "400 events sent\n"},
		{sentReport{Sent: 100_000, Seconds: 2.5}, "100,000 events sent in 2.5 s, 40,000 a second\n"},
	} {
		var out strings.Builder
		if err := (&app{&command.App{IO: cli.IO{Stdout: &out}}}).sent(c.report); err != nil || out.String() != c.want {
			t.Errorf("%+v: %q, not %q (%v)", c.report, out.String(), c.want, err)
		}
	}
}
