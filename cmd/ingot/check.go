package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/check"
	"github.com/ingot-events/ingot/internal/check/template"
)

const checkHelp = `Checks pipeline.yaml, and template.yaml against it: everything that exactly-once needs of the
queue, the stream, the tables and the functions. All mistakes are reported at once, each as
file:line:column: what; write … instead. Nothing is deployed and no request is sent.

The functions are found by their code (CodeUri ending in cmd/ingest, cmd/streams), or else by the
variables INGOT_TABLE and INGOT_AGGREGATES_TABLE and what is mapped to them; the tables and queues
by what the functions refer to. What only a deployment can know is a warning, and never guessed.

With --was it compares with the file that is deployed now: what would make redelivered messages
other items, which aggregates must begin anew, and whose totals would expire before events that are
stored; and what to drain first. (Another INGOT_PII_KEY makes other items too, and no file shows it.)

The table of aggregates says what one update costs when all partitions of the events table touch
one total, which then remembers where it stands in each of a partition's 18 shards of 72 hours.

Exit codes: 0 clean (there may be warnings), 3 mistakes or changes, also of a file that is empty or no YAML,
2 the command line is wrong, or a file it names is not there or cannot be read.

` + checkJSON

// checkJSON documents --output json; a test holds it to check.Report.
const checkJSON = `With --output json, one object:
  types, epoch            of the pipeline
  counting                marks or receipts, as the template sets it; absent if not known
  partitions              that the estimates suppose
  findings[]              severity (mistake, change, warning), rule, file, line, column, what, instead
  totals[]                name, since, from, spread, marks, bytes, units, freshUnits, spreadForOne`

type checkOptions struct {
	pipeline, template, was string
	parameters              []string
	partitions              int
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
  ingot check --output json`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := namesFiles(cmd, "pipeline", "template", "was"); err != nil {
				return err
			}
			return a.check(o, cmd.Flags().Changed("template"))
		},
	}
	cmd.Flags().StringVar(&o.pipeline, "pipeline", "pipeline.yaml", "the pipeline to check")
	cmd.Flags().StringVar(&o.template, "template", "template.yaml", "the SAM template to check against it")
	cmd.Flags().StringVar(&o.was, "was", "", "compare with this earlier pipeline, the one deployed now")
	cmd.Flags().StringArrayVar(&o.parameters, "parameter", nil, "a parameter of the template as NAME=VALUE, in place of its default; repeatable")
	cmd.Flags().IntVar(&o.partitions, "partitions", 4, "partitions of the events table, for the estimates: 1 to 1000")
	return cmd
}

// namesFiles refuses options that are given and name no file.
func namesFiles(cmd *cobra.Command, options ...string) error {
	for _, option := range options {
		if f := cmd.Flags().Lookup(option); f.Changed && f.Value.String() == "" {
			return usage(fmt.Errorf("--%s is empty; name a file, or leave the option out", option))
		}
	}
	return nil
}

// noArguments refuses what is left over, with what was probably meant.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usage(fmt.Errorf("%s takes no argument %q; see %s --help", cmd.CommandPath(), args[0], cmd.CommandPath()))
}

func (a *app) check(o checkOptions, named bool) error {
	in, err := o.input(named)
	if err != nil {
		return usage(err)
	}
	report, err := check.Run(in)
	if err != nil {
		return usage(checkError(err))
	}
	if in.Template == nil {
		fmt.Fprintf(a.stderr, "ingot: there is no %s here: only %s was checked; name a template with --template\n", o.template, o.pipeline)
	}
	if a.json() {
		err = report.WriteJSON(a.stdout)
	} else {
		err = report.WriteText(a.stdout, in)
	}
	if err == nil && !report.Clean() {
		err = difference()
	}
	return err
}

func checkError(err error) error {
	var parameter *template.ParameterError
	if errors.As(err, &parameter) {
		return fmt.Errorf("--parameter: %w", err)
	}
	return err
}

// input reads the files. A template that was not named may be missing.
func (o checkOptions) input(named bool) (check.Input, error) {
	in := check.Input{Parameters: map[string]string{}, Partitions: o.partitions}
	if o.partitions < 1 || o.partitions > 1000 {
		return in, fmt.Errorf("--partitions %d: give 1 to 1000", o.partitions)
	}
	for _, p := range o.parameters {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return in, fmt.Errorf("--parameter %q: write NAME=VALUE", p)
		}
		in.Parameters[name] = value
	}
	text, err := readFile(o.pipeline, "name the pipeline with --pipeline FILE")
	if err != nil {
		return in, err
	}
	in.Pipeline = check.File{Name: o.pipeline, Text: text}
	if in.Template, err = optionalFile(o.template, named, "name the template with --template FILE"); err == nil {
		in.Was, err = optionalFile(o.was, true, "name the file that is deployed now with --was FILE")
	}
	return in, err
}

// optionalFile is nil for no name, and for a file that need not be there and is not.
func optionalFile(name string, needed bool, next string) (*check.File, error) {
	if name == "" {
		return nil, nil
	}
	text, err := readFile(name, next)
	if errors.Is(err, fs.ErrNotExist) && !needed {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &check.File{Name: name, Text: text}, nil
}

// readFile reads a file that the command line names; next says what to do if it cannot.
func readFile(name, next string) ([]byte, error) {
	text, err := os.ReadFile(name)
	var path *fs.PathError
	if errors.As(err, &path) {
		return nil, fmt.Errorf("%s: %w; %s", name, path.Err, next)
	}
	return text, err
}
