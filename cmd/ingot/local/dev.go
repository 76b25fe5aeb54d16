package local

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/console"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/pipeline"
)

type devOptions struct {
	pipeline, data, counting string
	ahead                    string
	host                     string
	port, console            int
	verbose, reveal          bool
}

func newDev(a *app) *cobra.Command {
	var o devOptions
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run a pipeline of your own on this machine",
		Long: `Runs the whole pipeline in this process, for a pipeline.yaml of your own: queue, both functions,
tables, stream, time to live, quarantine and archive. It needs no account, no Docker and no network.
Ctrl-C ends it.

It serves the protocols of DynamoDB, DynamoDB Streams, SQS and S3 on port 8611 of this machine. Every
AWS SDK and the AWS CLI work with AWS_ENDPOINT_URL=http://127.0.0.1:8611 and any credentials. The other
commands use it in the folder of pipeline.yaml and below, unless they name a stack.

Everything is kept in the folder .ingot/data beside pipeline.yaml, or in the folder that --data names, and
is there again at the next start. Nothing is lost if the process is killed. Data can be lost if the machine
loses its power.

When pipeline.yaml changes, it is read again, and both functions go on with it as after a deployment. If
it has mistakes, or if ingot check --was objects to the change, the previous file stays in use.

If there is a publish.yaml beside it, each publication is sent to a queue of its own here, published-NAME.

If the pipeline uses hmac, hashes are made with INGOT_PII_KEY. If that is not set, a stand-in is
used, as in ingot explain.`,
		Example: `  ingot dev
  ingot dev --pipeline shop/pipeline.yaml --data shop/data
  ingot dev --port 9611 --port-console 9610
  ingot dev --output json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.dev(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.pipeline, "pipeline", "pipeline.yaml", "the pipeline to run")
	flags.StringVar(&o.data, "data", "", "the folder where everything is kept (default .ingot/data beside the pipeline)")
	flags.IntVar(&o.port, "port", 8611, "port of this machine for the protocols of AWS; 0: any free one")
	flags.StringVar(&o.host, "host", "127.0.0.1",
		"address of this machine for the protocols of AWS; for containers, give that of Docker's bridge, often 172.17.0.1")
	flags.IntVar(&o.console, "port-console", 8610, "port of this machine for the console; 0: any free one")
	flags.StringVar(&o.counting, "counting", "marks", "how totals are counted: marks or receipts")
	flags.StringVar(&o.ahead, "ahead", "", "how far its clock is ahead, such as 31d, to see what expires; it never goes back")
	flags.BoolVar(&o.reveal, "reveal", false, "show personal values in the console")
	flags.BoolVarP(&o.verbose, "verbose", "v", false, "print the log of both functions")
	command.HasJSON(cmd, " one line that says where everything is, as soon as it is ready")
	return cmd
}

// dev runs a pipeline until the user ends it.
func (a *app) dev(ctx context.Context, o devOptions) error {
	cfg, err := a.devConfig(o)
	if err != nil {
		return cli.Usage(err)
	}
	console.InDev(ctx, &cfg, o.reveal)
	d, err := dev.Start(ctx, cfg)
	var mistakes pipeline.Mistakes
	var path *fs.PathError
	switch {
	case errors.As(err, &mistakes):
		return cli.Usagef("the pipeline has mistakes:\n%w", err)
	case errors.As(err, &path) && path.Path == cfg.File:
		return cli.Usagef("%s: %w; %s", o.pipeline, path.Err, command.NoPipeline)
	case err != nil:
		return err
	}
	if err := a.greet(d, o); err != nil {
		return errors.Join(err, d.Close())
	}
	<-ctx.Done()
	return d.Close()
}

func (a *app) devConfig(o devOptions) (dev.Config, error) {
	counting, err := command.ParseCounting(o.counting)
	if err != nil {
		return dev.Config{}, err
	}
	for name, port := range map[string]int{"--port": o.port, "--port-console": o.console} {
		if port < 0 || port > 65535 {
			return dev.Config{}, fmt.Errorf("%s %d: give a port from 1 to 65535, or 0 for any free one", name, port)
		}
	}
	var ahead time.Duration
	if o.ahead != "" {
		if ahead, err = lifetime.Parse(o.ahead); err != nil {
			return dev.Config{}, fmt.Errorf("--ahead: %w; write a number and a unit, such as 90m, 12h or 31d", err)
		}
	}
	secret, _ := a.LocalSecret()
	file, err := filepath.Abs(o.pipeline)
	if err != nil {
		return dev.Config{}, err
	}
	if o.data == "" {
		o.data = filepath.Join(filepath.Dir(o.pipeline), ".ingot", "data")
	}
	cfg := dev.Config{File: file, Data: o.data, Secret: secret, Counting: counting, Host: o.host, Port: o.port, ConsolePort: o.console,
		Ahead: ahead, Tell: func(line string) { fmt.Fprintln(a.Stderr, "ingot dev: "+line) }}
	if o.verbose {
		cfg.Log = slog.New(slog.NewTextHandler(a.Stderr, nil))
	}
	return cfg, nil
}

// greet prints where everything is, and what to do next.
func (a *app) greet(d *dev.Dev, o devOptions) error {
	at := d.Local()
	if a.JSON() {
		return json.NewEncoder(a.Stdout).Encode(at)
	}
	a.TellStandIn("ingot dev", d.Pipeline())
	console := ""
	if at.Console != "" {
		console = "  console    " + at.Console + "\n"
	}
	_, err := fmt.Fprintf(a.Stdout, `%s runs on this machine. Ctrl-C ends it.

%s  endpoint   %s
  queue      %s
  tables     %s and %s

Send events from another terminal in this folder, one in a line, and look at what became of them:

  ingot send events.ndjson --local --wait
  ingot verify --local

The AWS CLI (version 2) and SDKs reach it too:

  export AWS_ENDPOINT_URL=%[3]s AWS_REGION=%[7]s AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local
`, o.pipeline, console, at.Endpoint, at.QueueURL, at.EventsTable, at.AggregatesTable, at.Region)
	return err
}
