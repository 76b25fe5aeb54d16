package main

import (
	"cmp"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/demo"
	"github.com/ingot-events/ingot/internal/tool/policy"
	"github.com/ingot-events/ingot/internal/tool/samconfig"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// completion is what a shell offers for a value.
type completion = cobra.CompletionFunc

// values completes the values of options, by the names of the options. An option has the same
// values in each command. Of an option that is not here, only the user knows the value.
var values = map[string]completion{
	"output":       outputs,
	"format":       words("text\tfor people", "prometheus\tfor Prometheus"),
	"counting":     words("marks\tthe default", "receipts\twhere nothing names the shard"),
	"keep":         words("all\tthe events as they are", "masked\twithout personal values", "none\tmade-up events"),
	"architecture": words("arm64\tof AWS", "x86_64\tIntel and AMD"),
	"verdict":      words(quarantined()...),
	"for":          words(slices.Sorted(maps.Keys(policy.Commands))...),
	"example":      exampleNames,
	"parameter":    parameters,
	"config-env":   environments,
	"pattern":      declared(patternNames),
	"sample":       declared(eventTypes), "type": declared(eventTypes),

	"pipeline": yaml, "migration": yaml, "publish": yaml, "next": yaml, "template": yaml, "was": yaml, "prices": yaml,
	"samconfig": filesNamed("toml"),
	"events":    filesNamed("ndjson", "jsonl", "json"),
	"keys":      filesNamed("ndjson"),
	"data":      folders, "letters": folders, "work": folders,
}

var yaml = filesNamed("yaml", "yml")

func words(list ...string) completion {
	return cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)
}

// outputs completes the forms of a command's output.
func outputs(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	forms := []string{"text\tfor people", "json\tfor programs"}
	if cmd.Annotations[command.CSV] != "" {
		forms = append(forms, "csv\tfor spreadsheets")
	}
	return forms, cobra.ShellCompDirectiveNoFileComp
}

// quarantined lists the verdicts of messages that go to quarantine.
func quarantined() (names []string) {
	for _, v := range event.Verdicts {
		if v.Quarantined() {
			names = append(names, v.String())
		}
	}
	return names
}

// environments completes those of samconfig.toml, or of the file that --samconfig names.
func environments(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	name, _ := cmd.Flags().GetString("samconfig")
	text, _ := os.ReadFile(cmp.Or(name, "samconfig.toml")) // without it, there are none
	return samconfig.Environments(text), cobra.ShellCompDirectiveNoFileComp
}

// exampleNames completes the examples that the demo brings with it.
func exampleNames(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var all []string
	for _, b := range demo.Bundles() {
		all = append(all, b.Name+"	"+b.Kind)
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// arguments completes the words after a command's name. Commands that are not here have nothing to
// offer.
var arguments = map[string]completion{
	"query":   declared(questions),
	"policy":  declared(patternNames),
	"totals":  declared(aggregateNames),
	"get":     declared(eventTypes),
	"erase":   declared(eventTypes),
	"turn":    declared(eventTypes),
	"explain": filesNamed("json", "ndjson"),
	"send":    filesNamed("ndjson", "jsonl", "json"),
	"demo":    filesNamed("ndjson", "jsonl", "json"),
	"rebuild": declared(otherAggregates),
	"mend":    declared(otherAggregates),
	"init":    folders,
	"find":    cobra.NoFileCompletions, // a key
	// These are the commands of quarantine. They begin with a folder.
	"pull": folders, "list": folders, "show": folders, "edit": folders, "resend": folders, "drop": folders,
}

// declared completes what the pipeline.yaml of the folder declares, or the file that --pipeline
// names. A shell cannot wait for a stack. offers gets the words before the one that is typed.
func declared(offers func(p *pipeline.Pipeline, words []string) []string) completion {
	return func(cmd *cobra.Command, words []string, typed string) ([]string, cobra.ShellCompDirective) {
		name, _ := cmd.Flags().GetString("pipeline")
		name = cmp.Or(name, "pipeline.yaml")
		text, _ := os.ReadFile(name) // without it, there is no pipeline
		p, err := textfile.File{Name: name, Text: text}.Load(pipeline.CheckOnly())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		list := slices.DeleteFunc(offers(p, words), func(offer string) bool { return !strings.HasPrefix(offer, typed) })
		directive := cobra.ShellCompDirectiveNoFileComp
		if len(list) > 0 && strings.HasSuffix(list[0], "=") {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		return list, directive
	}
}

func patternNames(p *pipeline.Pipeline, _ []string) []string { return command.PatternNames(p) }

// questions offers the patterns, and then the parameters of one that are not given yet.
func questions(p *pipeline.Pipeline, words []string) (names []string) {
	if len(words) == 0 {
		return patternNames(p, nil)
	}
	pattern, err := p.Pattern(words[0])
	if err != nil {
		return nil
	}
	for _, one := range pattern.Parameters() {
		names = append(names, one.Name)
	}
	return notGiven(names, words)
}

// aggregateNames offers the aggregates. It cannot offer the fields of by, because they depend on
// the events.
func aggregateNames(p *pipeline.Pipeline, words []string) []string {
	if len(words) > 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(p.Describe().Spec.Aggregates))
}

// otherAggregates offers the aggregates that no word names.
func otherAggregates(p *pipeline.Pipeline, words []string) []string {
	return slices.DeleteFunc(aggregateNames(p, nil), func(name string) bool { return slices.Contains(words, name) })
}

// eventTypes offers the types of events.
func eventTypes(p *pipeline.Pipeline, words []string) []string {
	if len(words) > 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(p.Describe().Spec.Events))
}

// notGiven returns NAME= of the fields that no word gives.
func notGiven(names, words []string) (offers []string) {
	for _, name := range names {
		if !slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, name+"=") }) {
			offers = append(offers, name+"=")
		}
	}
	return offers
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func filesNamed(extensions ...string) completion {
	return cobra.FixedCompletions(extensions, cobra.ShellCompDirectiveFilterFileExt)
}

// completeValues sets the completion of every option and argument of the tool.
func completeValues(root *cobra.Command) {
	for _, cmd := range all(root) {
		give := func(f *pflag.Flag) {
			complete := values[f.Name]
			if complete == nil {
				complete = cobra.NoFileCompletions
			}
			_ = cmd.RegisterFlagCompletionFunc(f.Name, complete) // it fails for an option that occurs twice
		}
		cmd.LocalNonPersistentFlags().VisitAll(give)
		cmd.PersistentFlags().VisitAll(give)
		if cmd.ValidArgsFunction = arguments[cmd.Name()]; cmd.ValidArgsFunction == nil && cmd != root {
			cmd.ValidArgsFunction = cobra.NoFileCompletions
		}
	}
}

// all returns a command and those below it.
func all(root *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{root}
	for _, cmd := range root.Commands() {
		list = append(list, all(cmd)...)
	}
	return list
}

// parameters completes NAME= of a parameter of the template, and then the values that it may have.
func parameters(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	file, _ := cmd.Flags().GetString("template")
	text, _ := os.ReadFile(file) // without it, there is no template
	t, err := template.Open(text, nil)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	name, _, chosen := strings.Cut(typed, "=")
	var offers []string
	for _, p := range t.Parameters() {
		switch {
		case !chosen:
			offers = append(offers, p.Name+"=")
		case p.Name == name:
			for _, value := range p.Allowed {
				offers = append(offers, name+"="+value)
			}
		}
	}
	return offers, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
