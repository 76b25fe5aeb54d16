package command

import (
	"github.com/spf13/cobra"
)

// TargetHelp is for the long help of the commands that reach a stack.
const TargetHelp = `Name the stack with --stack, with --config-env for an environment of samconfig.toml, or with --local for the
ingot dev that runs in this folder or in one above it. Without these options, the command uses the tables that
INGOT_TABLE and INGOT_AGGREGATES_TABLE name. If these are not set, it uses the ingot dev that runs here, and says
so. If none runs, or with --profile, --region or --endpoint-url, it uses the stack of samconfig.toml's environment
default.`

// TargetFlags adds the flags that say which stack a command works on.
func (a *App) TargetFlags(cmd *cobra.Command) {
	flags, to := cmd.Flags(), &a.Flags
	flags.StringVar(&to.Stack, "stack", "", "the CloudFormation stack")
	if flags.Lookup("config-env") == nil {
		flags.StringVar(&to.ConfigEnv, "config-env", "", "the stack of this environment of samconfig.toml (default the one called default)")
	}
	flags.BoolVar(&to.Local, "local", false, "the ingot dev that runs for this folder or one above it")
	flags.StringVar(&to.Profile, "profile", "", "the profile of the AWS CLI's configuration")
	flags.StringVar(&to.Region, "region", "", "the AWS region")
	flags.StringVar(&to.EndpointURL, "endpoint-url", "", "send the requests to this URL instead of AWS")
}

// DeployedFlag adds --pipeline to a command that works on a stack.
func (a *App) DeployedFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&a.Pipeline, "pipeline", "", "use this file in place of the one that is deployed")
}
