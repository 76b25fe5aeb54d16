package main

import (
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
)

// widestHelp is the width of the longest line in the help texts, as they are written here.
const widestHelp = 118

// fitHelp shapes the help of all commands: the flags of the root stand in its own help alone,
// topics are named at the end, and lines are wrapped where the terminal is narrower.
func fitHelp(a *command.App, root *cobra.Command) {
	standard := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.InheritedFlags().VisitAll(func(f *pflag.Flag) { f.Hidden = true })
		out := cmd.OutOrStdout()
		var b strings.Builder
		cmd.SetOut(&b)
		standard(cmd, args)
		cmd.SetOut(out)
		text := b.String() + seeTopics(cmd)
		if a.Columns > 0 && a.Columns < widestHelp {
			text = wrapHelp(text, a.Columns)
		}
		_, _ = io.WriteString(out, text)
	})
}

// entry matches a line of a list: a name, at least two blanks, and an explanation.
var entry = regexp.MustCompile(`^( +\S.*?  +)(\S.*)$`)

// wrapHelp wraps paragraphs, and the entries of lists under their own text. Examples stay as they
// are, so that they can be copied.
func wrapHelp(text string, width int) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	example := false
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if line == "" || line == "Examples:" {
			example = line != ""
		}
		if line == "" || example {
			b.WriteString(line + "\n")
			continue
		}
		first, rest := "", line
		if m := entry.FindStringSubmatch(line); m != nil {
			first, rest = m[1], m[2]
		} else if line[0] == ' ' {
			rest = strings.TrimLeft(line, " ")
			first = line[:len(line)-len(rest)]
		}
		for i+1 < len(lines) && goesOn(lines[i+1], utf8.RuneCountInString(first)) && lines[i+1] != "Examples:" {
			i++
			rest += " " + strings.TrimLeft(lines[i], " ")
		}
		wrapLine(&b, first, rest, width)
	}
	return b.String()
}

// goesOn reports whether a line continues a text that begins at this column.
func goesOn(line string, column int) bool {
	text := strings.TrimLeft(line, " ")
	return text != "" && len(line)-len(text) == column && (column == 0 || entry.FindString(line) == "")
}

// wrapLine writes first and then a text. Further lines are indented to the beginning of the text.
func wrapLine(b *strings.Builder, first, text string, width int) {
	indent := utf8.RuneCountInString(first)
	b.WriteString(first)
	column := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	b.WriteByte('\n')
}
