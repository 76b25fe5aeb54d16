package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/demo"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// demoFlags are the options of ingot demo.
type demoFlags struct {
	seed     uint64
	example  string
	file     string // of events
	pipeline string
	skip     bool
	repeat   int
	counting string
	totals   int

	attributes []string
}

func newDemo(a *app) *cobra.Command {
	var f demoFlags
	cmd := &cobra.Command{
		Use:   "demo [FILE]",
		Short: "Run the whole pipeline in this process, with trouble, and check every total",
		Long: `Sends events through the whole pipeline in this process: the queue, both functions, the tables, their
stream, and time to live. They are all part of this program, so nothing else needs to run. The events
are those of an example, or your own: a file with one JSON event on each line, the oldest first, or -
for standard input.

On the way it makes trouble at random: messages that come twice, late, broken or altered; functions
that are killed between a write and their answer; lost answers; throttled requests; old checkpoints.
It then shows what became of each trouble, and the totals beside those that plain ADDs would have
made. It checks every total twice: against the stored items, and against sums over the events as they
were before the trouble.

Each line of FILE is a message body, and all get the attributes of --attribute. Or a line is a whole
batch, whose messages have attributes of their own: what Lambda sends for a queue ({"Records": […]})
or what aws sqs receive-message prints ({"Messages": […]}). If lines cannot be used, all of them are
listed before anything is sent. With --skip-unusable, the demo then goes on without them.

The same options give the same summary, byte for byte. Exit code 3: a check found a difference.`,
		Example: `  ingot demo
  ingot demo --seed 42 --counting receipts
  ingot demo --example shop --totals 10
  ingot demo --repeat 10
  ingot demo events.ndjson
  ingot demo - --pipeline pipeline.yaml < events.ndjson
  ingot demo --output json`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && args[0] == "" {
				return cli.Usagef("%s takes one file of events, or - for standard input; see %s --help", cmd.CommandPath(),
					cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1 && cmd.Flags().Changed("example"):
				return cli.Usagef("--example and the file %s were both given; write one of them", args[0])
			case len(args) == 1:
				f.file = args[0]
			case cmd.Flags().Changed("pipeline"):
				return cli.Usagef("--pipeline is for your own events; name their file too: ingot demo FILE --pipeline FILE")
			}
			return a.demo(cmd.Context(), f)
		},
	}
	flags := cmd.Flags()
	flags.Uint64Var(&f.seed, "seed", 7, "seed of everything random in the run")
	flags.StringVar(&f.example, "example", "earthquakes", "without FILE, the events of this example: "+bundles())
	flags.StringArrayVar(&f.attributes, "attribute", nil, "a message attribute of each line of FILE as NAME=VALUE; repeatable")
	flags.StringVar(&f.pipeline, "pipeline", "pipeline.yaml", "the pipeline for FILE")
	flags.BoolVar(&f.skip, "skip-unusable", false, "leave out the lines of FILE that cannot be used")
	flags.IntVar(&f.repeat, "repeat", 1, "send the data this many times: copy k has other ids and is k weeks later")
	flags.StringVar(&f.counting, "counting", "marks", "how totals are counted: marks or receipts")
	flags.IntVar(&f.totals, "totals", 3, "how many totals of each aggregate to print; -1: all")
	return cmd
}

// demo runs the demo on the events that the command line means.
func (a *app) demo(ctx context.Context, f demoFlags) error {
	events, done, err := a.events(f.file)
	if err != nil {
		return err
	}
	defer done()
	config, err := a.demoConfig(f, events)
	if err != nil {
		return err
	}
	return a.checked(ctx, config, f.totals)
}

// checked runs the demo, prints what it found, and so many totals of each aggregate.
func (a *app) checked(ctx context.Context, config demo.Config, totals int) error {
	summary, err := demo.Run(ctx, config)
	var line *demo.LineError
	var lines *demo.LinesError
	switch {
	case errors.As(err, &line), errors.As(err, &lines), errors.Is(err, demo.ErrNoEvents):
		return cli.Usage(err)
	case err != nil:
		return err
	}
	return cli.Differs(a.printSummary(summary, totals), !summary.Same)
}

// events returns the file that the command line means. The events are read more than once. So
// standard input, and any other pipe, is written into a temporary file, which done removes.
func (a *app) events(file string) (name string, done func(), err error) {
	done = func() {}
	switch info, err := os.Stat(file); {
	case file == "-":
		if a.Typed {
			a.Say("reading events from the terminal, one on each line; end with Ctrl-D")
		}
		name, err = spool(a.Stdin)
		return name, func() { _ = os.Remove(name) }, err
	case err != nil || info.Mode().IsRegular() || info.IsDir():
		return file, done, nil // a missing file is reported with the other options
	}
	pipe, err := os.Open(file)
	if err != nil {
		return "", done, err
	}
	defer func() { _ = pipe.Close() }()
	name, err = spool(pipe)
	return name, func() { _ = os.Remove(name) }, err
}

// spool writes what it reads into a temporary file.
func spool(from io.Reader) (name string, err error) {
	f, err := os.CreateTemp("", "ingot-demo-*.ndjson")
	if err != nil {
		return "", fmt.Errorf("what is read from a pipe is kept in a temporary file: %w; set TMPDIR to a folder that can be written to",
			err)
	}
	_, err = io.Copy(f, from)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// demoConfig reads the options. events is the file that they come from.
func (a *app) demoConfig(f demoFlags, events string) (demo.Config, error) {
	c := demo.Config{Seed: f.seed, Repeat: f.repeat, Progress: a.Progress()}
	counting, err := aggregate.ParseCounting(f.counting)
	if err != nil {
		return c, cli.Usagef("--%w", err)
	}
	c.Counting = counting
	if f.repeat < 1 {
		return c, cli.Usagef("--repeat %d: write 1 or more", f.repeat)
	}
	if f.totals < -1 {
		return c, cli.Usagef("--totals %d: write how many of each aggregate to print, or -1 for all", f.totals)
	}
	return c, a.demoData(&c, f, events)
}

// demoData chooses the events, and the pipeline that they go through.
func (a *app) demoData(c *demo.Config, f demoFlags, events string) error {
	var files fs.FS
	var name string
	var secret []byte
	switch {
	case len(f.attributes) > 0 && f.file == "":
		return cli.Usagef("--attribute is for your own events: those of the examples have no message attributes")
	case f.skip && f.file == "":
		return cli.Usagef("--skip-unusable is for your own events: the examples have no lines that cannot be used")
	case f.file != "":
		attributes, err := command.ParseAttributes(f.attributes)
		if err == nil {
			err = ownFiles(f)
		}
		if err != nil {
			return cli.Usage(err)
		}
		title := f.file
		if title == "-" {
			title = "standard input"
		}
		c.Data = demo.File(events, title, attributes)
		c.Tell = func(line string) { a.Say("%s", line) }
		if f.skip {
			c.Skip = func(bad *demo.LinesError) { a.Say("%s", bad.Skipped()) }
		}
		files, name = os.DirFS(filepath.Dir(f.pipeline)), filepath.Base(f.pipeline)
		secret, _ = a.LocalSecret()
	default:
		b, err := bundle(f.example)
		if err != nil {
			return cli.Usage(err)
		}
		c.Data = b.Data
		files, name, secret = b.Files, b.File, []byte(b.Secret)
	}
	var err error
	if c.Plan, err = pipeline.Load(files, name, pipeline.Secret(secret)); err != nil {
		return cli.Usage(inFile(err, f.pipeline))
	}
	if f.file != "" {
		a.TellStandIn("ingot demo", c.Plan)
	}
	return nil
}

// bundle returns the events of an example.
func bundle(name string) (demo.Bundle, error) {
	var known []string
	for _, b := range demo.Bundles() {
		if b.Name == name {
			return b, nil
		}
		known = append(known, b.Name)
	}
	return demo.Bundle{}, fmt.Errorf("--example %q: write one of %s, or name a file of your own: ingot demo FILE", name,
		strings.Join(known, ", "))
}

// bundles names the examples with their kinds, for help.
func bundles() string {
	var all []string
	for _, b := range demo.Bundles() {
		all = append(all, fmt.Sprintf("%s (%s)", b.Name, b.Kind))
	}
	return strings.Join(all, ", ")
}

// ownFiles refuses files that cannot be the user's events or pipeline, before anything runs.
func ownFiles(f demoFlags) error {
	for _, file := range []struct{ name, next string }{
		{f.file, "name a file with one JSON event a line"},
		{f.pipeline, "name the pipeline for these events with --pipeline FILE"},
	} {
		if file.name == "-" && file.name == f.file {
			continue
		}
		info, err := os.Stat(file.name)
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w; %s", file.name, textfile.Cause(err), file.next)
		case info.IsDir():
			return fmt.Errorf("%s: it is a directory; %s", file.name, file.next)
		}
	}
	return nil
}

func (a *app) printSummary(s *demo.Summary, totals int) error {
	if !a.JSON() {
		return s.Text(a.Stdout, totals)
	}
	return a.WriteJSON(s)
}

// inFile names the file as the user named it, because the loader knows only the last element of its
// name.
func inFile(err error, name string) error {
	var mistakes pipeline.Mistakes
	if !errors.As(err, &mistakes) || name == "" {
		return err
	}
	for i := range mistakes {
		mistakes[i].File = name
	}
	return fmt.Errorf("%s cannot be used:\n%w", name, mistakes)
}
