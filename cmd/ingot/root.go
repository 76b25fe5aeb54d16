package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// app is what every command may use: the streams, the environment and the options that hold for all
// commands. Nothing is global.
type app struct {
	env    func(string) (string, bool)
	stdin  io.Reader // ends with the context
	typed  bool      // stdin is a terminal
	stdout io.Writer // data
	stderr io.Writer // messages: progress, warnings, errors
	output string    // text or json
	// columns is how wide the terminal is that stdout is. 0 means that it is not a terminal.
	columns int
	// clock is the clock by which commands wait for a stack. The zero value is the real time. Tests
	// set another clock, so that they do not wait.
	clock env.Env
	// closers end what the command has opened.
	closers []func()
	// tamper changes the demo's tables before they are checked. It is nil outside tests.
	tamper func(context.Context, *embedded.Engine) error
}

// json reports whether the user asked for JSON on stdout.
func (a *app) json() bool { return a.output == "json" }

// writeJSON writes one value to standard output.
func (a *app) writeJSON(v any) error { return show.JSON(a.stdout, v) }

// run is the whole tool as a function. It takes the arguments without the program's name, and
// returns the exit code.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{env: env, stdin: stdin, stdout: stdout, stderr: stderr}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	a.typed, a.stdin = isTerminal(a.stdin), interruptible(ctx, a.stdin)
	if a.columns == 0 {
		a.columns = columnsOf(a.stdout)
	}
	root := newRoot(a)
	root.SetArgs(args)
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	err := root.ExecuteContext(ctx)
	for _, end := range a.closers {
		end()
	}
	code := exitCode(ctx, err)
	a.complain(code, err)
	return code
}

// complain prints what went wrong, unless the command has already done so.
func (a *app) complain(code int, err error) {
	var exit *exitError
	switch {
	case err == nil:
	case code == exitInterrupted:
		fmt.Fprintln(a.stderr, "ingot: interrupted")
	case errors.As(err, &exit) && exit.err == nil:
	default:
		fmt.Fprintf(a.stderr, "ingot: %s\n", show.Error(err))
	}
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:   "ingot",
		Short: "Events from a queue into a table exactly once, with live totals that add up",
		Long: `ingot runs, checks and explains an Ingot pipeline.

Exit codes: 0 fine, 1 failed, 2 the command line or a file is wrong, 3 found a difference, 4 no credentials or not
permitted, 5 refused, 6 could not tell, 130 interrupted.`,
		Version:       readBuild(debug.ReadBuildInfo()).Version,
		SilenceUsage:  true,
		SilenceErrors: true,
		// This is cobra's own default. cobra applies it only to the words that it looks up itself.
		SuggestionsMinimumDistance: 2,
		Args:                       noSuchCommand,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			forms, which := []string{"text", "json"}, "text or json"
			if cmd.Annotations[csvToo] != "" {
				forms, which = append(forms, "csv"), "text, json or csv"
			}
			if !slices.Contains(forms, a.output) {
				return usage(fmt.Errorf("--output %q: write %s", a.output, which))
			}
			return nil
		},
	}
	root.PersistentFlags().StringVarP(&a.output, "output", "o", "text", "text or json, on standard output")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(misspelled(cmd, err))
	})
	root.AddCommand(commands(a)...)
	strict(root)
	completeValues(root)
	a.fitHelp(root)
	return root
}

// csvToo is the annotation of commands whose output can also be csv.
const csvToo = "csv"

// strict changes the commands that cobra adds by itself, help and completion, so that they behave
// like the others: an unknown word is an error, and is not answered with unrelated help.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("")
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			cmd.Args = func(_ *cobra.Command, words []string) error {
				if _, rest, err := root.Find(words); err != nil || len(rest) > 0 {
					return noSuchCommand(root, words)
				}
				return nil
			}
		case "completion":
			cmd.Args = noSuchCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// noSuchCommand refuses an unknown command. If a command has a similar name, the error suggests it.
func noSuchCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("see %s --help", cmd.CommandPath())
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return usage(fmt.Errorf("unknown command %q; %s", args[0], hint))
}
