package examine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
)

const policyHelp = `Prints the smallest IAM policy with which somebody can read by the named patterns. It allows only what the patterns
send, such as GetItem or Query, on the table or the index.

With --principal-tag TAG, each principal can read only the partitions whose key has the value of the principal's tag
TAG. The condition lists every shard, and refuses a request that names no key. If the partition key has a hash, a time
or a function that loses a part of the value, no such condition is right, and the command says why. The value of the
tag must not contain #, % or control characters, because keys have these escaped.

With --for COMMAND it prints what a command of this tool needs instead. Remove what you do not use. --for producer
prints what a program needs that sends events to the queue, and --for deploy what make deploy needs. With that, one
can give the functions' roles every right. With --for deploy-bounded, all roles have the boundary that --for
boundary prints. These three are for the template.yaml of this folder, or else for Ingot's own. The stack need not
exist yet.

If you name a stack with --stack, --config-env or --local, the ARNs are complete, and the patterns are those of the
deployed file. Otherwise the ARNs have placeholders such as REGION, ACCOUNT and EVENTS, and the patterns are those of
pipeline.yaml in this folder. --pipeline names another file.

Exit code 2: also if no such policy is right.`

type policyOptions struct{ tag, command string }

func newPolicy(a *app) *cobra.Command {
	var o policyOptions
	cmd := &cobra.Command{
		Use:   "policy PATTERN…",
		Short: "Print the IAM policy for reading by a pattern, or for a command",
		Long:  policyHelp,
		Example: `  ingot policy order merchant_days
  ingot policy order --principal-tag order --local
  ingot policy --for query --stack shop`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.policy(cmd, o, args)
		},
	}
	cmd.Flags().StringVar(&o.tag, "principal-tag", "", "the tag whose value is in the partition keys that a principal may read")
	cmd.Flags().StringVar(&o.command, "for", "", "print what this command of the tool needs, such as query; or a producer, or deploy")
	command.OnPipeline(cmd, "")
	return cmd
}

func (a *app) policy(cmd *cobra.Command, o policyOptions, names []string) error {
	if o.command != "" && (len(names) > 0 || o.tag != "") {
		return cli.Usagef("--for prints what a command needs; leave patterns and --principal-tag out beside it")
	}
	other := policy.Others[o.command]
	find := a.Find
	if other != nil && o.command != "producer" { // what makes a stack comes before it
		find = a.Place
	}
	var t *target.Target // stays nil if the flags name none
	if a.Named() {
		var err error
		if t, err = find(cmd.Context()); err != nil {
			return err
		}
	}
	parts := policy.ARNsOf(t)
	doc := policy.Document{Version: "2012-10-17"}
	switch statements := policy.Commands[o.command]; {
	case statements != nil:
		doc.Statement = statements(parts)
	case other != nil:
		made, err := a.made()
		if err != nil {
			return err
		}
		doc.Statement = other(parts, made)
	case o.command != "":
		names := slices.Sorted(maps.Keys(policy.Commands))
		return cli.Usagef("--for %s: write one of %s", o.command,
			strings.Join(append(names, slices.Sorted(maps.Keys(policy.Others))...), ", "))
	default:
		p, err := a.patternsOf(cmd.Context(), t)
		if err != nil {
			return err
		}
		if len(names) == 0 {
			return cli.Usagef("say which patterns; %s", command.HasPatterns(p))
		}
		for _, name := range names {
			pattern, err := p.Pattern(name)
			if err != nil {
				return cli.Usage(err)
			}
			s, err := policy.Reading(pattern, parts, o.tag)
			if err != nil {
				return cli.Usage(err)
			}
			doc.Statement = append(doc.Statement, s)
		}
	}
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	if n := len(strings.Join(strings.Fields(string(text)), "")); n > maxPolicy {
		a.Say("the policy has %d characters, and a managed policy has at most %d; make two policies of it", n, maxPolicy)
	}
	_, err = fmt.Fprintln(a.Stdout, string(text))
	return err
}

// maxPolicy is the number of characters of a managed policy, without white space (IAM User Guide,
// "IAM and AWS STS quotas").
const maxPolicy = 6144

// made returns what the template.yaml of this folder makes, or else Ingot's own.
func (a *app) made() (*policy.Template, error) {
	text, err := os.ReadFile(templateFile)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = fs.ReadFile(ingot.Deployment(), templateFile)
	}
	if err != nil {
		return nil, err
	}
	made, err := policy.ReadTemplate(text)
	if err != nil {
		return nil, cli.Usagef("%s: %s", templateFile, err)
	}
	for _, r := range made.Unknown() {
		a.Say("the policy has nothing for %s", r)
	}
	return made, nil
}

const templateFile = "template.yaml"

// patternsOf returns the pipeline that declares the patterns: the deployed one of a stack, or else
// pipeline.yaml.
func (a *app) patternsOf(ctx context.Context, t *target.Target) (*pipeline.Pipeline, error) {
	if t == nil {
		a.Pipeline = cmp.Or(a.Pipeline, command.PipelineFile)
	}
	_, p, err := a.File(ctx, t, command.Use{})
	return p, err
}
