package command

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/pipeline"
)

// LocalSecret returns the key of hmac for a command that runs on this machine alone: INGOT_PII_KEY,
// or the stand-in if that is not set.
func (a *App) LocalSecret() (secret []byte, standIn bool) {
	if key, _ := a.Env("INGOT_PII_KEY"); key != "" {
		return []byte(key), false
	}
	return []byte(show.StandIn), true
}

// TellStandIn says of a command that its hashes are made with the stand-in, if they are.
func (a *App) TellStandIn(command string, p *pipeline.Pipeline) {
	if _, standIn := a.LocalSecret(); standIn && p.UsesHMAC() {
		fmt.Fprintf(a.Stderr, "%s: INGOT_PII_KEY is not set: keyed hashes are made with the key %q\n", command, show.StandIn)
	}
}

// MaxInput is the largest input, in bytes. Lambda never sends more (6 MB), and SQS never returns
// more.
const MaxInput = 16 << 20

// ParseAttributes reads message attributes in the form of --attribute.
func ParseAttributes(texts []string) (map[string]string, error) {
	attributes := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--attribute %q: write NAME=VALUE", text)
		}
		attributes[name] = value
	}
	return attributes, nil
}

// ParseCounting reads --counting.
func ParseCounting(text string) (aggregate.Counting, error) {
	counting, err := aggregate.ParseCounting(text)
	if err != nil {
		err = fmt.Errorf("--counting %q: write marks or receipts", text)
	}
	return counting, err
}

// NoPipeline says what to do if the pipeline cannot be read, to somebody who may have none yet.
const NoPipeline = "name the pipeline with --pipeline FILE, or make one with: ingot init"

// PipelineFile is the name of the pipeline in a repository.
const PipelineFile = "pipeline.yaml"

// PatternNames lists the patterns of a pipeline.
func PatternNames(p *pipeline.Pipeline) (names []string) {
	for _, pattern := range p.Patterns() {
		names = append(names, pattern.Name())
	}
	return names
}

// HasPatterns says which patterns a pipeline has, to somebody who has named none.
func HasPatterns(p *pipeline.Pipeline) string {
	names := PatternNames(p)
	if len(names) == 0 {
		return "the pipeline has none: declare it under patterns:"
	}
	return "the pipeline has " + strings.Join(names, ", ")
}
