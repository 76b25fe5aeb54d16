package rebuild

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/store/repair"
)

const partsHelp = `Puts the missing parts of stored events. A part is missing if an older function stored the whole alone, or if the
file did not declare the part yet. It needs no pause. Do not run it if the key of a part was changed after events
were stored: their parts are under the keys of that time, and would be stored a second time.

It reads all events, one by one, and first prints what that costs, as ingot rebuild does.

Exit code 3: not all are put.`

// partsJSON documents --output json. A test compares it with partsPut.
const partsJSON = `
  wholes, missing, put    how many events have parts; how many parts were missing, and how many are put
  refused[]               why the others are not put`

func newRebuildParts(a *app) *cobra.Command {
	var o pass.Options
	cmd := &cobra.Command{
		Use:     "parts",
		Short:   "Put the missing parts of stored events",
		Long:    partsHelp,
		Example: `  ingot rebuild parts --local`,
		Args:    command.NoArguments,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.rebuildParts(cmd, o) },
	}
	command.OnPipeline(cmd, partsJSON)
	o.AgreeFlags(cmd.Flags())
	return cmd
}

// partsPut is the JSON of what rebuild parts did.
type partsPut struct {
	Wholes  int      `json:"wholes"`
	Missing int      `json:"missing"`
	Put     int      `json:"put"`
	Refused []string `json:"refused"`
}

// rebuildParts puts the parts of stored events that are missing.
func (a *app) rebuildParts(cmd *cobra.Command, o pass.Options) error {
	ctx := cmd.Context()
	s, err := pass.Open(ctx, a.App, repairing)
	if err != nil {
		return err
	}
	price, err := pass.PriceOf(ctx, s.Target, 1)
	if err != nil {
		return err
	}
	price.Note = "and one read unit for each part, and what a put costs for each part that is missing"
	if s.Plan.UsesOffload() {
		price.Note += ", and one GET from S3 for each whole whose payload is in the payload bucket"
	}
	if begin, err := o.Begin(a.App, "rebuild parts takes", price, s.Target); !begin {
		return err
	}
	done, err := repair.Of(s.Store).PutParts(ctx)
	if err != nil {
		return err
	}
	out := partsPut{Wholes: done.Wholes, Missing: done.Missing, Put: done.Put, Refused: []string{}}
	for _, r := range done.Refused {
		text := fmt.Sprintf("%s (%s)", r.Verdict, r.Reason)
		if r.Verdict == event.Retry { // any other refusal may quote the event
			text = r.Error()
		}
		out.Refused = append(out.Refused, text)
	}
	err = a.Print(out, func(b *strings.Builder) {
		fmt.Fprintf(b, "%s of %s missing, %s put\n", show.Count(out.Missing, "part"), show.Count(out.Wholes, "event"),
			show.Comma(out.Put))
		show.Some(b, out.Refused, func(s string) string { return "not put: " + s })
	})
	return cli.Differs(err, out.Put < out.Missing)
}
