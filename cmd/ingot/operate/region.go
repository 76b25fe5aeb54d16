package operate

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/region"
	"github.com/ingot-events/ingot/internal/tool/target"
)

const regionHelp = `The home of an events table is the Region in which events are stored and counted. The first function that starts
makes its Region the home. The functions of a stack in another Region refuse to start. ingot status shows the home.`

const regionMoveHelp = `Makes the Region of a stack the home of its events table, which must be a replica of the table of the stack that
is left. Before that it makes sure, and says what to do if it is not so, that

  - both functions of both stacks are paused,
  - each aggregate of the pipeline that is to run there is a new generation, because its totals begin anew,
  - everything has stood still for five minutes,
  - and what was written in the old home has arrived.

--pipeline names the pipeline.yaml that is deployed there. The stack cannot say it, because its functions have not
started.

Afterwards, resume both functions of the new home, and run ingot rebuild --all there. The command can be run again.

If the old Region is lost, --lost asks nothing of it. Events that were not replicated are then missing, and come in
when the Region is back: look for them before anybody deletes the old table.`

type regionOptions struct {
	from, stack string
	lost        bool
}

func newRegion(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "region", Short: "Move the home Region of the events table", Long: regionHelp}
	cmd.AddCommand(a.regionMove())
	return cmd
}

func (a *app) regionMove() *cobra.Command {
	var o regionOptions
	cmd := &cobra.Command{
		Use:   "move",
		Short: "Make the Region of a stack the home of its events table",
		Long:  regionMoveHelp,
		Example: `  ingot region move --stack shop --region eu-west-1 --from us-east-1 --pipeline pipeline.yaml
  ingot region move --stack shop --region eu-west-1 --from us-east-1 --from-stack shop-old --pipeline pipeline.yaml
  ingot region move --stack shop --region eu-west-1 --from us-east-1 --lost --pipeline pipeline.yaml`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.from == "" {
				return cli.Usagef("say which Region is left with --from REGION; ingot status shows it")
			}
			if a.Pipeline == "" {
				return cli.Usagef("name the pipeline.yaml that is deployed there with --pipeline FILE: its functions have not started, " +
					"so the stack does not say it")
			}
			return a.moveRegion(cmd, o)
		},
	}
	command.OnPipeline(cmd, "")
	cmd.Flags().StringVar(&o.from, "from", "", "the Region that is the home until now")
	cmd.Flags().StringVar(&o.stack, "from-stack", "", "the stack in that Region (default the name of the new one)")
	cmd.Flags().BoolVar(&o.lost, "lost", false, "that Region cannot be reached: ask nothing of it")
	return cmd
}

func (a *app) moveRegion(cmd *cobra.Command, o regionOptions) error {
	ctx := cmd.Context()
	to, err := a.Find(ctx)
	if err != nil {
		return err
	}
	if err := to.Needs(target.IngestFunction, target.StreamsFunction); err != nil {
		return err
	}
	m := region.Mover{To: *sideOf(to), Env: a.Clock, Tell: a.Say}
	if !o.lost {
		flags := a.Flags
		flags.Region, flags.Stack, flags.ConfigEnv = o.from, cmp.Or(o.stack, to.Name), ""
		old, err := target.Find(ctx, flags)
		if err != nil {
			return err
		}
		defer old.Close()
		if err := old.Needs(target.IngestFunction, target.StreamsFunction); err != nil {
			return err
		}
		m.From = sideOf(old)
	}
	if m.Pipeline, err = a.Deployed(ctx, to, command.Use{}); err != nil {
		return err
	}
	if err := a.Announce(to); err != nil {
		return err
	}
	err = m.Move(ctx, o.from)
	if refusal := (*region.Refusal)(nil); errors.As(err, &refusal) {
		return cli.Refused(err)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(a.Stdout, "the home of %s is %s; now run ingot resume and ingot resume streams, and then ingot rebuild --all\n",
		to.EventsTable, to.Region)
	return nil
}

func sideOf(t *target.Target) *region.Side {
	return &region.Side{Region: t.Region, Tables: t.DynamoDB(), Lambda: t.Lambda(), Events: t.EventsTable, Aggregates: t.AggregatesTable,
		Ingest: t.IngestFunction, Streams: t.StreamsFunction}
}
