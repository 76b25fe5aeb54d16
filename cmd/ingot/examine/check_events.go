package examine

import (
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/explain"
	"github.com/ingot-events/ingot/internal/tool/sample"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/publish"
)

const eventsHelp = `With --events it plans each line of a file of events, or of standard input with -. A line is one
message body, with the attributes of --attribute. Or it is a whole batch, as Lambda sends it ({"Records": […]}) or
aws sqs receive-message prints it ({"Messages": […]}). The report has verdicts and reasons; fields that are absent,
null or of another type; the hottest keys and totals; sizes and write units; and how many events a bound may refuse.
The exit code is 3 if a line would be Poison, or more than one in a hundred a Conflict. The first lines are given to
the ingest function on empty tables in memory, for at most 5 seconds and 20,000 lines. All others are planned, and
only Poison among them gets a verdict. The command does not know what is stored already. It takes at most 256 MB of
memory. A key with a personal value is shown as a hash.`

// eventsJSON documents the part of --output json that --events adds.
const eventsJSON = `
  events                  file, lines, verdicts, rehearsed, paths, fine, keys, hotTotals, items, updates, compress;
                          boundsMayRefuse, if a bound may refuse some of the Inserted; hotLists, if totals are ranked
    verdicts[]            verdict, reason, type, count; line and detail of the first, next and nextDetail of the second
    rehearsed             how many lines the ingest function was given; the others have a verdict only if they are Poison
    paths[]               type, path, uses, needed, of, absent, null, empty, other (by the type that is there),
                          meant and place (of a path that no event has)
    fine                  how many fields are right in every event
    keys[], hotTotals[], hotLists[]  in (table, GSI1 …, an aggregate), count, distinct, exact, top
      top[]               pk, sk, or keyHash; atLeast, atMost
    items                 count, leastBytes, mostBytes, meanBytes, largestLine, writeUnits, unitsEach; parts, if some
                          of them are parts
    updates               count, each, most: totals that an event and its parts move
    compress[]            type, of, saves: items of a type with compress, and how many of them it makes cheaper`

// sampled says which events a command plans.
type sampled struct {
	file, now  string   // now: empty, or the time as of which they are planned
	attributes []string // of each message, as --attribute has them
}

// sampleFlags adds the options that say how the file of --events is read.
func sampleFlags(cmd *cobra.Command, s *sampled) {
	cmd.Flags().StringVar(&s.now, "now", "", "plan --events as of this time (RFC 3339) instead of now")
	cmd.Flags().StringArrayVar(&s.attributes, "attribute", nil, "a message attribute of each line of --events as NAME=VALUE; repeatable")
}

// alone refuses options about the events of a file that is not named.
func (s sampled) alone() error {
	if s.file == "" && len(s.attributes) > 0 {
		return cli.Usagef("--attribute is for the events of --events; name their file, or leave --attribute out")
	}
	return nil
}

// asOf reads --now. Without it, it is now.
func asOf(text string) (time.Time, error) {
	if text == "" {
		return time.Now(), nil
	}
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return now, fmt.Errorf("--now %q: write a time as in 2026-03-01T12:00:00Z", text)
	}
	return now, nil
}

// openSample opens the file of events. messages returns the messages of one of its lines.
func (a *app) openSample(s sampled) (from io.ReadCloser, name string, messages func(string) ([]envelope.Message, error), err error) {
	attributes, err := command.ParseAttributes(s.attributes)
	if err != nil {
		return nil, "", nil, err
	}
	messages = func(line string) ([]envelope.Message, error) { return explain.OfLine(line, attributes) }
	from, name, err = a.Open(s.file, "name a file with one event a line with --events FILE")
	return from, name, messages, err
}

// sampleEvents plans the events of a file.
func (a *app) sampleEvents(in check.Input, s sampled) (*sample.Report, error) {
	now, err := asOf(s.now)
	if err != nil {
		return nil, err
	}
	secret, _ := a.LocalSecret() // no hash that the stand-in makes is shown
	p, err := in.Pipeline.Load(pipeline.Secret(secret))
	if err != nil {
		a.Say("the sample events were not checked, because %s has mistakes", in.Pipeline.Name)
		return nil, nil
	}
	from, name, messages, err := a.openSample(s)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	reader := &sample.Sampler{Pipeline: p, Now: now, Messages: messages, Clock: time.Now, Name: in.Pipeline.Name, Text: in.Pipeline.Text}
	if in.Publish != nil {
		if plan, err := publish.Load(*in.Publish, in.Publish.Name, p); err == nil { // else its mistakes are reported
			reader.Also = plan.Reads
		}
	}
	return reader.Read(name, from)
}
