package examine

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/samconfig"
	"github.com/ingot-events/ingot/pipeline"
)

const costHelp = `Computes what a pipeline costs at a rate of events: the requests and units of each part, for a million events and
for a month, and dollars. The prices are those of us-east-1 at the day that the output names, or those of a file.
prices/us-east-1.yaml says where each price comes from.

Without --events it assumes that every event has 1 KB and the type that costs the most, and that no two events of a
batch move the same total. With --events it takes sizes, types, repetitions and totals from the sample, and assumes
that events come in the order of the sample and at the rate.

The figures are those of a stack made from template.yaml, after its first events have expired. What parameters decide,
such as memory and processor of the functions, is as in the template.yaml beside the pipeline, with the parameters of
samconfig.toml. Without that file, functions have 576 MB on arm64. The figures are estimates, made from the requests
that the functions send and from the time that they took in the benchmarks. The command sends no request.`

// costJSON documents --output json. A test compares it with cost.Report.
const costJSON = `
  pipeline, rate          messages a second
  duplicates, hours       further deliveries for each message; hours of the month
  messages, partitions    messages in the month; partitions of the events table
  memory, architecture    of each function
  events                  file, lines, more (true: the file has more lines), type, indexes, bytes, inMessage, parts,
                          updatesEachChange: what is assumed
  batches                 ingest, streams: messages and changes that a function gets at once;
                          transaction: items that one transaction puts, if transactions are used
  partial                 true: the sample is shorter than a batch of each partition
  grows                   true: some events are kept for ever
  movedByPut              true: the puts of these events move totals
  prices                  file, region, read (the day on which the oldest price was read, if the file says it)
  parts[]                 name, counted, aMillion, aMonth, price, dollarsAMillion, dollarsAMonth
  dollarsAMillion         the sums of the parts
  dollarsAMonth
  restoreDollars          once, if the events table is lost
  capacity                with --peak: peak, writeUnits and readUnits a second, and onDemandDollarsAMonth,
                          scaledDollarsAMonth, forPeakDollarsAMonth of both tables
  beside[]                name, dollarsAMillion, dollarsAMonth: the same events with other functions
  unpriced[]              names of prices that are missing; what is billed by them is not in the sums`

type costOptions struct {
	pipeline, prices   string
	sample             sampled
	architecture       string // empty, like memory 0: as the template has it
	environment        string
	rate, duplicates   float64
	peak               float64
	partitions, memory int
	parts, together    int
	traced             bool          // as the template has it
	stack              *rules.Billed // likewise; nil: there is no template
	with               []string
	beside             []cost.Stack // those, as their templates have them
}

func newCost(a *app) *cobra.Command {
	var o costOptions
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Compute what a pipeline costs at a rate of events",
		Long:  costHelp,
		Example: `  ingot cost --rate 100
  ingot cost --rate 2000 --prices prices/us-east-1.yaml --memory 1024 --duplicates 0.02
  ingot cost --rate 100 --output json`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("rate") {
				return cli.Usagef("say how many events come each second, as in %s --rate 100", cmd.CommandPath())
			}
			if err := o.sample.alone(); err != nil {
				return err
			}
			if err := o.functions(cmd.Flags().Changed("config-env")); err != nil {
				return cli.Usage(err)
			}
			return a.cost(o)
		},
	}
	cmd.Flags().StringVar(&o.pipeline, "pipeline", "pipeline.yaml", "the pipeline")
	cmd.Flags().Float64Var(&o.rate, "rate", 0, "events a second, on average over the month")
	cmd.Flags().Float64Var(&o.peak, "peak", 0, "events a second at the busiest time: compares provisioned capacity of the tables")
	cmd.Flags().StringVar(&o.prices, "prices", "", cost.PricesUsage)
	cmd.Flags().StringVar(&o.sample.file, "events", "",
		"take sizes, types, repetitions and totals from the events of this file, one on each line; - is standard input")
	sampleFlags(cmd, &o.sample)
	cmd.Flags().Float64Var(&o.duplicates, "duplicates", 0,
		"further deliveries for each event, such as 0.02, in addition to the repetitions in --events")
	cmd.Flags().IntVar(&o.partitions, "partitions", 0,
		"partitions of the events table: 1 to 10000 (default as many as the rate needs, and at least the 4 of a new table)")
	cmd.Flags().IntVar(&o.parts, "parts", 1,
		"without --events: how many parts a message yields of each part type with each: 0 to 1000")
	cmd.Flags().IntVar(&o.together, "together", 10, "messages that producers send with one request: 1 to 10")
	cmd.Flags().IntVar(&o.memory, "memory", 0, "memory of each function in MB: 128 to 10240 (default as in template.yaml)")
	cmd.Flags().StringVar(&o.architecture, "architecture", "", "processor of both functions: arm64 or x86_64 (default as in template.yaml)")
	cmd.Flags().StringVar(&o.environment, "config-env", defaultEnvironment, "the environment of samconfig.toml whose functions these are")
	cmd.Flags().StringSliceVar(&o.with, "with", nil,
		"stacks beside it that cost something too: publish, capture while a table moves, or large, whose schedule verifies all totals; "+
			"NAME=FOLDER takes what it costs from its template.yaml and samconfig.toml there")
	command.HasJSON(cmd, costJSON)
	return cmd
}

// defaultEnvironment is the environment of samconfig.toml that SAM itself takes.
const defaultEnvironment = "default"

// functions takes what the command line does not say of the stack from template.yaml and
// samconfig.toml. Both are in the folder of the pipeline, and may be missing. chosen says that the
// command line names an environment, which must then be there.
func (o *costOptions) functions(chosen bool) error {
	folder := filepath.Dir(o.pipeline)
	tpl, err := optionalFile(filepath.Join(folder, "template.yaml"), false, "")
	if err != nil {
		return err
	}
	config, err := optionalFile(filepath.Join(folder, "samconfig.toml"), chosen, "--config-env needs this file; leave it out")
	if err != nil {
		return err
	}
	if chosen && !slices.Contains(samconfig.Environments(config.Text), o.environment) {
		return samconfig.NoEnvironment(config.Name, config.Text, o.environment)
	}
	size := rules.Functions{Memory: cost.DefaultMemory, Architecture: "arm64"} // and no traces
	if tpl != nil {
		c, err := rules.Open(*tpl, config, o.environment)
		if err != nil {
			return err
		}
		stack := c.Billed()
		o.stack = &stack
		if size, err = c.Both(); err != nil && (o.memory == 0 || o.architecture == "") {
			return fmt.Errorf("%w; name --memory and --architecture", err)
		}
	}
	o.memory, o.architecture, o.traced = cmp.Or(o.memory, size.Memory), cmp.Or(o.architecture, size.Architecture), size.Traced
	for _, with := range o.with {
		stack, err := o.standing(with)
		if err != nil {
			return fmt.Errorf("--with %w", err)
		}
		o.beside = append(o.beside, stack)
	}
	return nil
}

// standing reads NAME, or NAME=FOLDER where the template of that stack is.
func (o *costOptions) standing(with string) (cost.Stack, error) {
	name, folder, own := strings.Cut(with, "=")
	stack, err := cost.StackOf(name)
	if err != nil || !own {
		return stack, err
	}
	tpl, err := optionalFile(filepath.Join(folder, "template.yaml"), true, "it is the template of the "+name+" stack")
	if err != nil {
		return stack, err
	}
	config, err := optionalFile(filepath.Join(folder, "samconfig.toml"), false, "")
	if err != nil {
		return stack, err
	}
	return stack.As(*tpl, config, o.environment)
}

// newTable is how many partitions a new on-demand table has.
const newTable = 4

func (a *app) cost(o costOptions) error {
	in, err := o.input()
	if err != nil {
		return cli.Usage(err)
	}
	secret, _ := a.LocalSecret() // no hash that the stand-in makes is shown
	if _, in.Pipeline, err = command.LoadFile(o.pipeline, command.NoPipeline, pipeline.Secret(secret)); err != nil {
		return err
	}
	if in.Partitions == 0 {
		in.Partitions = min(maxPartitions, max(newTable, estimate.Shards(o.rate)))
	}
	if in.Prices, err = cost.PricesOf(o.prices); err != nil {
		return cli.Usage(err)
	}
	report, err := a.rehearsed(in, o)
	if err != nil {
		return cli.Usage(err)
	}
	return a.Print(report, report.WriteText)
}

// rehearsed computes the cost of the events of a file, or of events that it makes up.
func (a *app) rehearsed(in cost.Input, o costOptions) (*cost.Report, error) {
	var err error
	if in.Now, err = asOf(o.sample.now); err != nil {
		return nil, err
	}
	if o.sample.file == "" {
		return cost.Suppose(in, o.parts)
	}
	from, name, messages, err := a.openSample(o.sample)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	in.File, in.Clock = name, time.Now
	report, err := cost.Compute(in, cost.Messages(name, from, messages))
	if errors.Is(err, cost.ErrNoEvents) {
		err = fmt.Errorf("%s holds no event; give it at least one line, or leave out --events", name)
	}
	return report, err
}

// input takes the figures from the command line.
func (o costOptions) input() (cost.Input, error) {
	in := cost.Input{Name: o.pipeline, Rate: o.rate, Peak: o.peak, Duplicates: o.duplicates, Partitions: o.partitions, Memory: o.memory,
		Architecture: o.architecture, Together: o.together, Traced: o.traced, Stack: o.stack, Beside: o.beside}
	switch {
	case !(o.rate > 0) || o.rate > maxPartitions*estimate.ChangesPerShard:
		return in, fmt.Errorf("--rate %v: give events a second, more than 0 and at most %d", o.rate, maxPartitions*estimate.ChangesPerShard)
	case o.peak != 0 && !(o.peak >= o.rate) || math.IsInf(o.peak, 0):
		return in, fmt.Errorf("--peak %v: give events a second at the busiest time, at least the --rate", o.peak)
	case o.duplicates < 0 || o.duplicates > 100 || math.IsNaN(o.duplicates):
		return in, fmt.Errorf("--duplicates %v: give further deliveries for each event, 0 to 100", o.duplicates)
	case o.together < 1 || o.together > 10:
		return in, fmt.Errorf("--together %d: give messages in a request, 1 to 10", o.together)
	case o.partitions != 0 && (o.partitions < 1 || o.partitions > maxPartitions):
		return in, fmt.Errorf("--partitions %d: give 1 to %d", o.partitions, maxPartitions)
	case o.parts < 0 || o.parts > pipeline.MaxParts:
		return in, fmt.Errorf("--parts %d: give 0 to %d", o.parts, pipeline.MaxParts)
	case o.parts != 1 && o.sample.file != "":
		return in, errors.New("--parts and --events: the events say how many parts they have; leave out --parts")
	case o.memory < estimate.LeastMemory || o.memory > estimate.MostMemory:
		return in, fmt.Errorf("--memory %d: give MB, %d to %d", o.memory, estimate.LeastMemory, estimate.MostMemory)
	case o.architecture != "arm64" && o.architecture != "x86_64":
		return in, fmt.Errorf("--architecture %q: write arm64 or x86_64", o.architecture)
	}
	return in, nil
}
