package main

import (
	"context"
	"errors"
	"io"
	"runtime/debug"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
)

// run is the whole tool as a function. It takes the arguments without the program's name, and
// returns the exit code.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) int {
	return execute(ctx, appOf(cli.IO{Env: env, Stdin: stdin, Stdout: stdout, Stderr: stderr}), args)
}

func appOf(o cli.IO) *command.App { return &command.App{IO: o} }

func execute(ctx context.Context, a *command.App, args []string) int {
	a.Begin(ctx)
	root := newRoot(a)
	if len(args) > 0 && (args[0] == cobra.ShellCompRequestCmd || args[0] == cobra.ShellCompNoDescRequestCmd) {
		completeValues(root)
	}
	root.SetArgs(args)
	root.SetIn(a.Stdin)
	root.SetOut(a.Stdout)
	root.SetErr(a.Stderr)
	err := root.ExecuteContext(ctx)
	a.Close()
	code := exitCode(ctx, err)
	complain(a, code, err)
	return code
}

// complain prints what went wrong, unless the command has already done so.
func complain(a *command.App, code int, err error) {
	var exit *cli.ExitError
	switch {
	case err == nil:
	case code == cli.Interrupted:
		a.Say("interrupted")
	case errors.As(err, &exit) && exit.Err == nil:
	default:
		a.Say("%s", show.Error(err))
	}
}

func newRoot(a *command.App) *cobra.Command {
	root := &cobra.Command{
		Use:           "ingot",
		Short:         "Events from a queue into a table exactly once, with live totals that add up",
		Long:          "ingot runs, checks and explains an Ingot pipeline.",
		Version:       version(debug.ReadBuildInfo()),
		SilenceUsage:  true,
		SilenceErrors: true,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			forms, which := []string{"text", "json"}, "text or json"
			if cmd.Annotations[command.CSV] != "" {
				forms, which = append(forms, "csv"), "text, json or csv"
			}
			if !slices.Contains(forms, a.Output) {
				return cli.Usagef("--output %q: write %s", a.Output, which)
			}
			return wrongFlag(cmd)
		},
	}
	stack := a.StackFlags()
	root.PersistentFlags().AddFlagSet(stack)
	root.PersistentFlags().StringVarP(&a.Output, "output", "o", "text", "text or json, on standard output")
	root.PersistentFlags().BoolP("help", "h", false, "help for a command")
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage(misspelled(cmd, err))
	})
	root.AddCommand(commands(a)...)
	root.AddCommand(topics(root, stack)...)
	strict(root)
	fitHelp(a, root)
	return root
}

// strict makes commands refuse an unknown word and a flag that means nothing to them: cobra answers
// for a command that only has others below it with its help, and so does its own help command.
func strict(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd("")
	for _, cmd := range all(root) {
		if cmd.HasSubCommands() && !cmd.Runnable() {
			cmd.SuggestionsMinimumDistance = 2 // cobra's default for the words that it looks up itself
			cmd.Args = command.NoSuchCommand
			cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
		if cmd.Name() == "help" {
			cmd.Args = func(_ *cobra.Command, words []string) error {
				if _, rest, err := root.Find(words); err != nil || len(rest) > 0 {
					return command.NoSuchCommand(root, words)
				}
				return nil
			}
		}
	}
}
