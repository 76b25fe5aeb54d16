package command

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// StackHelp explains the flags of [App.StackFlags], which it does not list.
const StackHelp = `Every command that reaches a stack finds it in the same way. It takes the first of these:

  1. what --stack, --config-env or --local names; give at most one of them
  2. the tables that the variables INGOT_TABLE and INGOT_AGGREGATES_TABLE name
  3. the ingot dev that runs in this folder or in one above it; the command says so
  4. the stack of the environment default of samconfig.toml in this folder

With --profile, --region or --endpoint-url, it is never an ingot dev. The flags of the command line come before
what samconfig.toml says of the region and the profile.

Most commands read the pipeline.yaml that is deployed in the stack. With --pipeline, they use a file instead. A
command that changes what is stored or counted refuses a file that differs in that from the deployed one.

A command that reaches no stack refuses these flags. Only check and cost have a --config-env that means something
else to them, and a command that reads the pipeline.yaml of this folder has a --pipeline of its own.`

// StackFlags returns the flags that say which stack a command works on, and with which
// pipeline.yaml. They are flags of the root, so that they are declared once, and a command that
// they mean nothing to refuses them. A command to which one of them means something else declares a
// flag of the same name.
func (a *App) StackFlags() *pflag.FlagSet {
	flags, to := pflag.NewFlagSet("stack", pflag.ContinueOnError), &a.Flags
	flags.StringVar(&to.Stack, "stack", "", "the CloudFormation stack")
	flags.StringVar(&to.ConfigEnv, "config-env", "", "the stack of this environment of samconfig.toml (default the one called default)")
	flags.BoolVar(&to.Local, "local", false, "the ingot dev that runs for this folder or one above it")
	flags.StringVar(&to.Profile, "profile", "", "the profile of the AWS CLI's configuration")
	flags.StringVar(&to.Region, "region", "", "the AWS region")
	flags.StringVar(&to.EndpointURL, "endpoint-url", "", "send the requests to this URL instead of AWS")
	flags.StringVar(&a.Pipeline, "pipeline", "", "use this file in place of the one that is deployed")
	flags.VisitAll(func(f *pflag.Flag) { f.Annotations = map[string][]string{stackMark: {}} })
	flags.Lookup("pipeline").Annotations = map[string][]string{pipelineMark: {}}
	return flags
}

// These are the annotations of commands, and of the flags that mean something only to such
// commands.
const (
	stackMark    = "stack"
	pipelineMark = "pipeline"
)

// OnStack marks a command that reaches a stack. json describes its JSON, as in [HasJSON].
func OnStack(cmd *cobra.Command, json string) {
	HasJSON(cmd, json)
	cmd.Annotations[stackMark] = "true"
}

// OnPipeline marks a command that reaches a stack, and works with the pipeline.yaml that is
// deployed there.
func OnPipeline(cmd *cobra.Command, json string) {
	OnStack(cmd, json)
	cmd.Annotations[pipelineMark] = "true"
}

// Reaches reports whether a command reaches a stack.
func Reaches(cmd *cobra.Command) bool { return cmd.Annotations[stackMark] != "" }

// Meaningless returns why a flag of [App.StackFlags] means nothing to a command. It is empty for
// any other flag.
func Meaningless(cmd *cobra.Command, f *pflag.Flag) string {
	for mark, why := range map[string]string{stackMark: " reaches no stack", pipelineMark: " takes no pipeline.yaml"} {
		if f.Annotations[mark] != nil && cmd.Annotations[mark] == "" {
			return cmd.CommandPath() + why
		}
	}
	return ""
}
