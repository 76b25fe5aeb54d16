package examine

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

const checkHelp = `Checks pipeline.yaml, and checks template.yaml against it: everything that exactly-once needs of the queue, the
stream, the tables and the functions. It reports all mistakes at once, each with its file, line and column, what is
wrong, and what to do. It sends requests only with --was deployed.

It finds the functions by their code (a CodeUri that ends in cmd/ingest or cmd/streams), or else by their variables
INGOT_TABLE and INGOT_AGGREGATES_TABLE and by what is mapped to them. It finds tables and queues by what the functions
refer to. What only a deployment can show is a warning.

The parameters of the template are those of samconfig.toml beside it, for each of its environments. A finding names
the environments if it is not in all of them. samconfig.toml is checked too: for parameters that the template does
not have or that sam build does not see, a missing capability, and one stack for two environments.

With --was FILE it compares with the pipeline.yaml that is deployed now. It says which messages would become other
items if they are delivered again, which aggregates must begin anew or be rebuilt, which of their totals would
expire before stored events do, and what to drain first. If a longer retain needs an entry in was, it prints that
entry. With --was deployed, it reads the file from the stack; if that is not deployed yet, there is nothing to
compare. A change of INGOT_PII_KEY also makes other items, but no file shows it.

` + eventsHelp + `

migration.yaml and publish.yaml are checked too, if they are there. With --next FILE, the command says whether a
second Ingot with that pipeline.yaml can ingest what is published.

With --rate it says whether the streams functions can count that many changes a second. Each shard has one function,
and a shard of a busy table delivers up to 1,000 changes a second. With --events, the sample says how many totals a
change updates.

The table of patterns shows the requests and read units of a page. If pipeline.yaml gives a rate for a pattern, it
also shows the cost of a month.

The command warns of an index that no pattern reads. With --rate, it also warns of a partition key that all events
of one moment share, if it takes fewer writes than the rate, and of a total that gets more updates than one item
takes, if all events of one moment share it, or many of --events. The warning says how many shards, or which spread,
is enough.

The table of aggregates shows the write units of one update of a total: of a new total, and of a full one. A total
is full if all partitions of the events table have changed it within 72 hours. It then remembers how far it has
counted in each of the 18 shards that a partition has in that time.

Exit code 3: mistakes or changes, or a file that is empty or not YAML. Warnings alone are fine.`

// checkJSON documents --output json. A test compares it with check.Report.
const checkJSON = `
  types, epoch            of the pipeline
  counting                marks or receipts, as the template sets it; absent if not known
  partitions              as the estimates assume
  findings[]              severity (mistake, change, warning), rule, file, line, column, what, instead
  capacity                rate, shards, perShard, enoughShards, updatesPerChange, updatesBy, memory, sustained,
                          leastMemory
  patterns[]              name, request, requests, units, rate, dollarsAMonth
  hot[]                   key, shards, ceiling, enoughShards
  totals[]                name, since, from, spread, marks, bytes, units, freshUnits, spreadForOne, rank, rankShards,
                          rankWithin, movedBy` + eventsJSON

type checkOptions struct {
	pipeline, template, was string
	config, migration       string
	publish, next           string
	sample                  sampled
	parameters              []string
	deployed                *textfile.File // under --was deployed
	partitions              int
	rate                    float64
	prices                  string
}

func newCheck(a *app) *cobra.Command {
	var o checkOptions
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Check pipeline.yaml, and template.yaml against it",
		Long:  checkHelp,
		Example: `  ingot check
  ingot check --parameter Counting=receipts
  ingot check --was pipeline.yaml --partitions 16
  ingot check --was deployed --local
  ingot check --rate 4000
  ingot check --output json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.sample.alone(); err != nil {
				return err
			}
			if f := a.Flags; o.was != deployedWord && (f.Local || f.Stack+f.Profile+f.Region+f.EndpointURL != "") {
				return cli.Usagef("%s reaches a stack only with --was deployed: write that, or leave --stack, --local, --profile, "+
					"--region and --endpoint-url out", cmd.CommandPath())
			}
			if o.rate > 0 && !cmd.Flags().Changed("partitions") {
				o.partitions = min(maxPartitions, estimate.Shards(o.rate))
			}
			if o.was == deployedWord {
				var err error
				if o.deployed, err = a.deployedFile(cmd); err != nil {
					return err
				}
				if o.deployed == nil {
					o.was = ""
				}
			}
			return a.check(o, cmd.Flags().Changed)
		},
	}
	cmd.Flags().StringVar(&o.pipeline, "pipeline", "pipeline.yaml", "the pipeline to check")
	cmd.Flags().StringVar(&o.template, "template", "template.yaml", "the SAM template to check against it")
	cmd.Flags().StringVar(&o.migration, "migration", "migration.yaml", "what the rows of a table that moves become, to check as well")
	cmd.Flags().StringVar(&o.publish, "publish", "publish.yaml", "what is published, to check as well")
	cmd.Flags().StringVar(&o.next, "next", "", "the pipeline.yaml of a second Ingot that ingests what is published")
	cmd.Flags().StringVar(&o.was, "was", "",
		"the file of the pipeline that is deployed now, to compare with; deployed: read it from the stack")
	cmd.Flags().StringVar(&o.config, "samconfig", "",
		"the settings of SAM to take parameters from (default samconfig.toml beside the template)")
	cmd.Flags().StringVar(&a.Flags.ConfigEnv, "config-env", "",
		"only this environment of samconfig.toml (default each of them); with --was deployed, its stack")
	cmd.Flags().StringVar(&o.sample.file, "events", "", "plan the events of this file, one on each line; - is standard input")
	sampleFlags(cmd, &o.sample)
	command.OnStack(cmd, checkJSON)
	cmd.Flags().StringArrayVar(&o.parameters, "parameter", nil,
		"a parameter of the template as NAME=VALUE, in place of its value in samconfig.toml and its default; repeatable")
	cmd.Flags().IntVar(&o.partitions, "partitions", 4,
		"partitions of the events table, for the estimates: 1 to 10000; with --rate, the default is as many as that needs")
	cmd.Flags().StringVar(&o.prices, "prices", "", cost.PricesUsage)
	cmd.Flags().Float64Var(&o.rate, "rate", 0, "changes a second that the streams functions must keep up with")
	return cmd
}

// deployedWord is what --was says for the file that runs in the stack.
const deployedWord = "deployed"

// deployedFile returns the pipeline.yaml that a stack runs. It returns nil if samconfig.toml names
// a stack that has never been deployed.
func (a *app) deployedFile(cmd *cobra.Command) (*textfile.File, error) {
	t, err := a.Find(cmd.Context())
	var wrong *target.UsageError
	if errors.As(err, &wrong) && wrong.Undeployed {
		a.Say("nothing is deployed yet, so there is nothing to compare: %v", wrong)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f, err := command.DeployedFile(cmd.Context(), t)
	if errors.Is(err, command.ErrNoFile) {
		return nil, fmt.Errorf("name the deployed file with --was FILE: %w", err)
	}
	if err != nil {
		return nil, err
	}
	return &textfile.File{Name: "the deployed pipeline.yaml", Text: f.Text}, nil
}

// maxPartitions bounds the estimates.
const maxPartitions = 10_000

func (a *app) check(o checkOptions, named func(flag string) bool) error {
	in, err := o.input(named)
	if err != nil {
		return cli.Usage(err)
	}
	if o.sample.file != "" {
		if in.Events, err = a.sampleEvents(in, o.sample); err != nil {
			return cli.Usage(err)
		}
	}
	prices, err := cost.PricesOf(o.prices)
	if err != nil {
		return cli.Usage(err)
	}
	in.ReadUnit, in.Region = prices.ReadUnit(), prices.Region()
	report, err := check.Run(in)
	if err != nil {
		return cli.Usage(checkError(err))
	}
	if in.Template == nil {
		a.Say("there is no %s here: its rules were not checked; name a template with --template", o.template)
	}
	return cli.Differs(a.Print(report, func(b *strings.Builder) { report.WriteText(b, in) }), !report.Clean())
}

func checkError(err error) error {
	var parameter *template.ParameterError
	if errors.As(err, &parameter) && !strings.Contains(err.Error(), "has no environment") {
		return fmt.Errorf("--parameter: %w", err)
	}
	return err
}

// input reads the files. A template and a samconfig.toml that were not named may be missing.
func (o checkOptions) input(named func(flag string) bool) (check.Input, error) {
	in := check.Input{Now: time.Now(), Parameters: map[string]string{}, Partitions: o.partitions, Rate: o.rate,
		Exists: exists}
	switch {
	case o.rate < 0 || o.rate > maxPartitions*estimate.ChangesPerShard || math.IsNaN(o.rate):
		return in, fmt.Errorf("--rate %v: give changes a second, at most %d", o.rate, maxPartitions*estimate.ChangesPerShard)
	case o.partitions < 1 || o.partitions > maxPartitions:
		return in, fmt.Errorf("--partitions %d: give 1 to %d", o.partitions, maxPartitions)
	}
	for _, p := range o.parameters {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return in, fmt.Errorf("--parameter %q: write NAME=VALUE", p)
		}
		in.Parameters[name] = value
	}
	text, err := cli.ReadFile(o.pipeline, command.NoPipeline)
	if err != nil {
		return in, err
	}
	in.Pipeline = textfile.File{Name: o.pipeline, Text: text}
	if in.Template, err = optionalFile(o.template, named("template"), "name the template with --template FILE"); err == nil {
		config := o.config
		if !named("samconfig") {
			config = filepath.Join(filepath.Dir(o.template), "samconfig.toml")
		}
		in.Config, err = optionalFile(config, named("samconfig"), "name SAM's settings with --samconfig FILE")
	}
	if err == nil {
		in.Migration, err = optionalFile(o.migration, named("migration"), "name the file of the migration with --migration FILE")
	}
	if err == nil {
		in.Publish, err = optionalFile(o.publish, named("publish") || o.next != "", "name the file with --publish FILE")
	}
	if err == nil {
		in.Next, err = optionalFile(o.next, true, "name the pipeline.yaml of the second Ingot with --next FILE")
	}
	if in.Was = o.deployed; err == nil && in.Was == nil {
		in.Was, err = optionalFile(o.was, true, "name the file that is deployed now with --was FILE")
	}
	return in, err
}

// exists reports whether there is a file or folder, or something else that only keeps it from being
// read.
func exists(name string) bool {
	_, err := os.Stat(filepath.FromSlash(name))
	return !errors.Is(err, fs.ErrNotExist)
}

// optionalFile returns nil if name is empty. It also returns nil for a missing file that is not
// needed.
func optionalFile(name string, needed bool, next string) (*textfile.File, error) {
	if name == "" {
		return nil, nil
	}
	text, err := cli.ReadFile(name, next)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &textfile.File{Name: name, Text: text}, nil
}
