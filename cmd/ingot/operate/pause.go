package operate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

const pauseHelp = `Stops one function of a stack: it switches off what calls the function, and waits until no call is running any more.
It stops the ingest function, unless you write streams.

ingest    Events wait in the queue, which keeps them for 4 days. The command also waits until it is proven that the
          streams function has read the stream to its end, for 15 minutes at most. On an idle stack that takes less
          than a minute. Then verify is exact, and an aggregate can be declared complete.
streams   Totals stand still. Changes wait in the stream, which forgets them after 24 hours: totals then have to be
          rebuilt. So this needs --yes.

The tag ingot:paused of the event source mapping says who paused the function and when. ingot status shows it. A
deployment that changes the mapping ends the pause. Before it stops anything, the command prints how to resume.

Exit code 6: paused, but it is not known whether the stream is read to its end.`

const mappingsJSON = ` at the end
  mappings[]   uuid, function, source, state, by, at
  drained      true: pause has waited until the stream is read to its end
  resume       the command that resumes; absent after resume`

const resumeHelp = `Starts a function again that ingot pause or somebody else has stopped. It switches on what calls the function,
waits until that is done, and removes the tag of the pause. The function goes on where it stopped. The command
starts the ingest function, unless you write streams.`

type pauseOptions struct{ yes, noDrain bool }

// Paused is the JSON of pause and resume.
type Paused struct {
	Mappings []pause.Mapping `json:"mappings"`
	Drained  bool            `json:"drained"`
	Resume   string          `json:"resume,omitempty"`
}

func newPause(a *app) *cobra.Command {
	var o pauseOptions
	cmd := &cobra.Command{
		Use:   "pause [ingest|streams]",
		Short: "Stop storing events, or counting them, and wait until that is done",
		Long:  pauseHelp,
		Example: `  ingot pause --stack shop
  ingot pause streams --yes --stack shop
  ingot pause --local`,
		Args:      ingestOrStreams,
		ValidArgs: []string{"ingest", "streams"},
		RunE: func(cmd *cobra.Command, args []string) error {
			streams := slices.Contains(args, "streams")
			if streams && !o.yes {
				return cli.Usagef("the stream forgets changes after 24 hours, so a pause of the streams function can cost totals: " +
					"write --yes to confirm that")
			}
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			return a.pause(cmd, t, streams, o)
		},
	}
	command.OnStack(cmd, mappingsJSON)
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm a pause of the streams function")
	cmd.Flags().BoolVar(&o.noDrain, "no-drain", false, "do not wait until the stream is read to its end")
	return cmd
}

func newResume(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "resume [ingest|streams] [flags]",
		Short: "Start a paused function again",
		Long:  resumeHelp,
		Example: `  ingot resume --stack shop
  ingot resume streams --stack shop
  ingot resume --local`,
		Args:      ingestOrStreams,
		ValidArgs: []string{"ingest", "streams"},
		RunE: func(cmd *cobra.Command, args []string) error {
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			return a.resume(cmd.Context(), t, slices.Contains(args, "streams"))
		},
	}
	command.OnStack(cmd, mappingsJSON)
	return cmd
}

func ingestOrStreams(cmd *cobra.Command, args []string) error {
	if len(args) > 1 || len(args) == 1 && args[0] != "ingest" && args[0] != "streams" {
		return cli.Usagef("%s takes ingest or streams, not %q", cmd.CommandPath(), strings.Join(args, " "))
	}
	return nil
}

func (a *app) pause(cmd *cobra.Command, t *target.Target, streams bool, o pauseOptions) error {
	ctx := cmd.Context()
	function, err := command.FunctionName(t, streams)
	if err != nil {
		return err
	}
	if err := a.Announce(t); err != nil {
		return err
	}
	out := Paused{Resume: a.ResumeLine(t, streams)}
	a.Say("to resume: %s", out.Resume)
	if out.Mappings, err = a.Pauser(t).Pause(ctx, function, command.Caller(ctx, t)); err != nil {
		return err
	}
	var unknown error
	if !streams && !o.noDrain {
		a.Say("waiting until the stream is read to its end; ctrl-C ends the wait, not the pause")
		_, unknown = a.Lag(t, drained.Patience).Counted(ctx)
		out.Drained = unknown == nil
	}
	return a.endPause(ctx, out, streams, unknown)
}

func (a *app) endPause(ctx context.Context, out Paused, streams bool, unknown error) error {
	err := a.Print(out, func(b *strings.Builder) {
		out.states(b)
		switch {
		case streams:
			fmt.Fprintf(b, "resume before %s: the stream forgets\n", time.Now().Add(24*time.Hour).UTC().Format(time.RFC3339))
		case out.Drained:
			fmt.Fprintln(b, "the stream is read to its end")
		}
		fmt.Fprintf(b, "to resume: %s\n", out.Resume)
	})
	switch {
	case err != nil || unknown == nil:
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	}
	a.Say("%s is off, but it is not known whether the stream is read to its end: %s", out.Mappings[0].Function, show.Error(unknown))
	return cli.Unsure()
}

func (a *app) resume(ctx context.Context, t *target.Target, streams bool) error {
	function, err := command.FunctionName(t, streams)
	if err != nil {
		return err
	}
	if err := a.Announce(t); err != nil {
		return err
	}
	list, err := a.Pauser(t).Resume(ctx, function)
	if err != nil {
		return err
	}
	out := Paused{Mappings: list}
	return a.Print(out, out.states)
}

func (p Paused) states(b *strings.Builder) {
	for _, m := range p.Mappings {
		fmt.Fprintf(b, "%s  %s\n", m.Function, m.State)
	}
}
