package local

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/propose"
	"github.com/ingot-events/ingot/internal/tool/scaffold"
	"github.com/ingot-events/ingot/internal/tool/send"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// These are the values of --keep: what a new repository gets of the events in a file.
const (
	keepAll    = "all"
	keepMasked = "masked"
	keepNone   = "none"
)

var keeps = []string{keepAll, keepMasked, keepNone}

// propose reads sample events and proposes a pipeline.yaml. It reports the result on standard
// error. unfit says that events of the sample do not fit the proposal.
func (a *app) propose(name, keep string) (text []byte, bodies []string, unfit bool, err error) {
	from, _, err := a.Open(name, "name a file of events with --events FILE")
	if err != nil {
		return nil, nil, false, cli.Usage(err)
	}
	defer from.Close()
	sample, err := propose.Read(from)
	if err != nil {
		return nil, nil, false, cli.Usagef("--events %s: %w", name, err)
	}
	count, first := sample.Unusable()
	for _, line := range first {
		a.Say("%s: left out, %s", name, line)
	}
	if more := count - len(first); more > 0 {
		a.Say("%s: %d more lines are left out", name, more)
	}
	p := sample.Proposal()
	taken, poison, err := p.Check()
	if err != nil {
		return nil, nil, false, err
	}
	a.Say("pipeline.yaml is proposed from %s: read each comment in it; it fits %s of the sample", name,
		show.Count(taken, "event"))
	for _, why := range slices.Sorted(maps.Keys(poison)) {
		a.Say("it does not fit %s yet: %s", show.Count(poison[why], "event"), why)
	}
	aside := p.Aside()
	for _, why := range slices.Sorted(maps.Keys(aside)) {
		a.Say("%s of the sample would go to quarantine: %s", show.Count(aside[why], "event"), why)
	}
	if bodies, err = a.kept(p, name, keep); err != nil {
		return nil, nil, false, err
	}
	if len(bodies) < taken {
		skip := ""
		if count > 0 || len(aside) > 0 {
			skip = " --skip-unusable"
		}
		a.Say("to send the whole file through the demo: ingot demo FILE%s", skip)
	}
	return p.YAML(), bodies, len(poison) > 0, nil
}

// kept returns the events for the files of the repository, and says what they are, because Git
// keeps them.
func (a *app) kept(p *propose.Proposal, name, keep string) ([]string, error) {
	bodies := p.Bodies(scaffold.MaxSample)
	masked, fields := p.Masked(bodies)
	name = sampleName(name)
	const files = "events/sample.ndjson and events/ingest.json, which Git will keep, have "
	switch keep {
	case keepMasked:
		changed := "no field that looks personal was found"
		if len(fields) > 0 {
			changed = "these fields have other values: " + strings.Join(fields, ", ")
		}
		a.Say(files+"%s of %s; %s; look at them before you commit them", show.Count(len(masked), "event"), name, changed)
		return masked, nil
	case keepNone:
		_, made, err := madeUp(textfile.File{Name: command.PipelineFile, Text: p.YAML()})
		if err != nil {
			return nil, err
		}
		if len(made) > 0 {
			a.Say(files+"%s that were made up, and none of %s", show.Count(len(made), "event"), name)
			return made, nil
		}
		a.Say("no event could be made up for the proposal; write some into events/sample.ndjson when pipeline.yaml is complete")
		return []string{"{}"}, nil
	}
	a.Say(files+"%s of %s, as they are; if that must not be, delete the folder, and run init again with --keep masked or --keep none",
		show.Count(len(bodies), "event"), name)
	return bodies, nil
}

// madeOfEach is how many events of each type are made up.
const madeOfEach = 3

// madeUp loads a pipeline, and makes up events of each of its types. It leaves out a type of which
// it cannot make an event that is stored.
func madeUp(f textfile.File) (p *pipeline.Pipeline, made []string, err error) {
	p, err = f.Load(pipeline.Secret([]byte(show.StandIn)))
	if err != nil {
		return nil, nil, err
	}
	now := time.Now()
	for i := range int64(madeOfEach) {
		for _, name := range slices.Sorted(maps.Keys(p.Describe().Spec.Events)) {
			if text, err := send.Sample(p, name, nil, now.Add(time.Duration(i)*time.Second), 1+i); err == nil {
				made = append(made, text)
			}
		}
	}
	return p, made[:min(len(made), scaffold.MaxSample)], nil
}

// sampleName returns the name of a file of events for messages.
func sampleName(file string) string {
	if file == "-" {
		return "standard input"
	}
	return file
}
