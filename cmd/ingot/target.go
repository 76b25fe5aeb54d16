package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
)

// targetHelp is for the long help of the commands that reach a stack.
const targetHelp = `Name the stack with --stack, with --config-env for an environment of samconfig.toml, or with --local for the
ingot dev that runs in this folder or in one above it. Without these options, the command uses the tables that
INGOT_TABLE and INGOT_AGGREGATES_TABLE name. If these are not set, it uses the ingot dev that runs here, and says
so. If none runs, or with --profile, --region or --endpoint-url, it uses the stack of samconfig.toml's environment
default.`

// targetFlags adds the flags that say which stack a command works on. [app.find] reads them.
func targetFlags(cmd *cobra.Command) {
	text := func(name, usage string) {
		if cmd.Flags().Lookup(name) == nil {
			cmd.Flags().String(name, "", usage)
		}
	}
	text("stack", "the CloudFormation stack")
	text("config-env", "the stack of this environment of samconfig.toml (default the one called default)")
	cmd.Flags().Bool("local", false, "the ingot dev that runs for this folder or one above it")
	text("profile", "the profile of the AWS CLI's configuration")
	text("region", "the AWS region")
	text("endpoint-url", "send the requests to this URL instead of AWS")
}

// find returns the stack that a command's flags mean. Its connections end with the command.
func (a *app) find(cmd *cobra.Command) (*target.Target, error) {
	flags := cmd.Flags()
	text := func(name string) string {
		value, _ := flags.GetString(name)
		return value
	}
	for _, name := range []string{"stack", "config-env", "profile", "region", "endpoint-url"} {
		if f := flags.Lookup(name); f != nil && f.Changed && f.Value.String() == "" {
			return nil, cli.Usagef("--%s is empty; write a value, or leave the flag out", name)
		}
	}
	local, _ := flags.GetBool("local")
	t, err := target.Find(cmd.Context(), target.Options{Stack: text("stack"), ConfigEnv: text("config-env"), Local: local,
		Profile: text("profile"), Region: text("region"), EndpointURL: text("endpoint-url"), Env: a.Env})
	if t != nil {
		a.closers = append(a.closers, t.Close)
		if t.Note != "" && err == nil {
			a.Say("%s", t.Note)
		}
	}
	var wrong *target.UsageError
	if errors.As(err, &wrong) {
		return nil, cli.Usage(err)
	}
	return t, err
}

// announce says on standard error what a command is about to change. It refuses to change a
// protected stack that nobody has named. Every command that writes calls it first.
func (a *app) announce(t *target.Target) error {
	if t.Protected && !t.Named {
		return cli.Refusedf("%s is protected from deletion, and samconfig.toml's default alone chose it; name it with --stack %s",
			t, t.Name)
	}
	a.Say("this changes %s", t)
	return nil
}

// storeOf returns a store over the tables and the payload bucket of a stack.
func (a *app) storeOf(t *target.Target, p *pipeline.Pipeline) (*store.Store, error) {
	return store.New(store.Config{Client: t.DynamoDB(), Pipeline: p, Events: t.EventsTable, Aggregates: t.AggregatesTable,
		Objects: t.S3(), PayloadBucket: t.PayloadBucket, Env: a.Clock})
}

// needsPayloads returns an error if a pipeline offloads payloads and the stack has no output that
// names the bucket.
func needsPayloads(t *target.Target, p *pipeline.Pipeline) error {
	if !p.UsesOffload() {
		return nil
	}
	return t.Needs(target.Payloads)
}
