package operate

import (
	"errors"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/console"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
)

const consoleHelp = `Serves a page about a stack on 127.0.0.1. It shows what flows, what is stored of one event and which verdict a
redelivery would get, totals, and quarantine. Open the address that the command prints. It ends with a token, without
which nothing is shown. ingot dev serves a console of its own; with --local this command prints its address and ends.

The page only reads, unless you give --write. What flows is read from one-minute metrics, at most once a minute, and
only while the page is visible. The stack's stream is never read. To show quarantine, the page must receive the
messages, which hides them from others for a moment. Before it reads a whole table of totals, the page says what that
costs. If another pipeline.yaml is deployed, the page uses it within a minute, unless --pipeline names a file.`

type consoleOptions struct {
	port          int
	write, reveal bool
}

func newConsole(a *app) *cobra.Command {
	var o consoleOptions
	cmd := &cobra.Command{
		Use:   "console",
		Short: "Show a stack on a page in the browser",
		Long:  consoleHelp,
		Example: `  ingot console --stack shop
  ingot console --stack shop --write --port 0
  ingot console --local`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if o.port < 0 || o.port > 65535 {
				return cli.Usagef("--port %d: give a port from 1 to 65535, or 0 for any free one", o.port)
			}
			t, err := a.Find(cmd.Context())
			if err != nil {
				return err
			}
			if t.Kind == target.KindLocal {
				return a.consoleOfDev(t)
			}
			return a.console(cmd, t, o)
		},
	}
	command.OnPipeline(cmd, "\n  url")
	cmd.Flags().IntVar(&o.port, "port", 8610, "port of this machine for the page; 0: any free one")
	cmd.Flags().BoolVar(&o.write, "write", false, "allow the page to change the stack: it can send messages of quarantine again")
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	return cmd
}

type served struct {
	URL string `json:"url"`
}

// consoleOfDev prints the address of the console that an ingot dev serves.
func (a *app) consoleOfDev(t *target.Target) error {
	if t.Console == "" {
		return errors.New("this ingot dev serves no console; start it again with: ingot dev")
	}
	return a.printConsole(t.Console)
}

func (a *app) printConsole(url string) error {
	return a.Print(served{url}, func(b *strings.Builder) { b.WriteString(url + "\n") })
}

// console serves the console of a stack until the user ends it.
func (a *app) console(cmd *cobra.Command, t *target.Target, o consoleOptions) error {
	now, err := a.Follow(cmd.Context(), t)
	if err != nil {
		return err
	}
	if o.write {
		if err := a.Announce(t); err != nil {
			return err
		}
	}
	l, err := console.Listen(o.port)
	if err != nil {
		return err
	}
	defer l.Close()
	s, err := console.New(console.Config{Source: a.consoleSource(t, now, o), Listen: l.Addr().String(), Write: o.write})
	if err != nil {
		return err
	}
	a.Say("the console of %s is at this address until ctrl-C; keep the token to yourself", t)
	if err := a.printConsole(s.URL()); err != nil {
		return err
	}
	ctx := cmd.Context()
	if err := s.Serve(ctx, l); ctx.Err() == nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// consoleSource is a stack as the console reads it.
func (a *app) consoleSource(t *target.Target, now func() *pipeline.Pipeline, o consoleOptions) console.Source {
	return &console.Remote{CloudWatch: t.CloudWatch(), Logs: t.Logs(), LogGroups: t.LogGroups(),
		IngestFunction: t.IngestFunction, StreamsFunction: t.StreamsFunction,
		Resources: console.Resources{
			Name: t.Name, Place: t.String(), DynamoDB: t.DynamoDB(), SQS: t.SQS(), Events: t.EventsTable, Aggregates: t.AggregatesTable,
			Objects: t.S3(), PayloadBucket: t.PayloadBucket,
			QueueURL: t.QueueURL, QuarantineURL: t.QuarantineURL, DeadLettersURL: t.DeadLetterURL,
			Pipeline: now, Now: time.Now, Reveal: o.reveal}}
}
