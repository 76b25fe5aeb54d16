package examine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/explain"
	tool "github.com/ingot-events/ingot/internal/tool/migrate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/pipeline"
)

const explainHelp = `Shows what Ingot would do with an event, and why: its envelope, type, id, time and key; the hash of its payload and
the text that was hashed; index keys and expiry; the size and write units of the item; each total that the event
moves, what that costs, and which bounds may refuse the event. If the event would be quarantined, it says exactly
why. The command sends no request, so it does not know whether the key is taken already.

EVENT is a file, or - for standard input. It holds one of these:
  a message body      as its producer sends it; give its message attributes with --attribute
  message bodies      one on each line
  {"Records": […]}    what Lambda sends for a queue
  {"Messages": […]}   what aws sqs receive-message prints
Several messages are explained as one batch. For a message from quarantine, it first says why the message is there,
and then which verdict it would get if it were sent again.

With --migration, EVENT holds a row of an old table instead, as aws dynamodb get-item prints it. The command shows which
entry of that migration.yaml takes the row, the payload that it becomes, and the keys of its items.

If the pipeline uses hmac, hashes are made with INGOT_PII_KEY. If that is not set, a stand-in is used, and the output
says so beside each hash.

Exit code 3: a message would be quarantined, or comes from quarantine; or the row is refused.`

// explainJSON documents --output json. A test compares it with explain.Report.
const explainJSON = ` what is not known or does not apply is absent
  standInKey              true: it has a hash of hmac that is made with a stand-in
  counting, partitions    as the estimates assume
  messages[]              messageId, trace, quarantined, verdict, reason, detail, line, column, advice, envelope, type, id,
                          at, key, requires, schema, digest, digestText, revision, attributes, indexes, expiresAt, retain,
                          archive, item, aggregates, atomic, parts, events; line and column say where the file
                          is not JSON
    parts[]               the items of its parts, each with the same members
    events[]              the events of a message that has several, each with the same members, and its place
    quarantined           why a message from quarantine is there: verdict, reason, detail, pk, sk, group, trace, events
                          (their places), others (of stored ones); the verdict beside it is what it would get if its key were free
    key                   pk, sk
    requires[]            type, pk, sk: what must be stored before it
    indexes[]             name, pk, sk; or name, missing
    item                  bytes, writeUnits, eachUnits; transaction, if it is put in one; payloadBytes and
                          compressedBytes, if its type has compress (the second only if that saves units);
                          payloadBytes and kept (what the item keeps), if its payload goes to the payload bucket
    aggregates[]          name, since, pk, sk, list, buckets, movedBy, expiresAt, adds, marks, freshUnits, fullUnits;
                          or name, since, notCounted
      adds[]              value, op, amount, atLeast (the floor, if the event takes from the value), atMost (the ceiling, if it adds)`

type explainOptions struct {
	pipeline, counting, now, migration string
	attributes                         []string
	partitions                         int
	reveal                             bool
}

func newExplain(a *app) *cobra.Command {
	var o explainOptions
	cmd := &cobra.Command{
		Use:   "explain EVENT",
		Short: "Show what Ingot would do with an event, and why",
		Long:  explainHelp,
		Example: `  ingot explain events/ingest-one.json
  ingot explain - < events/ingest-latest.json
  ingot explain events/ingest-many.json --counting receipts --output json
  ingot explain events/ingest-expired.json --now 2020-03-01T00:00:00Z
  ingot explain row.json --migration migration.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 || args[0] == "" {
				return cli.Usagef("name one event file, or - for standard input; see %s --help", cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.migration == "" {
				return a.explain(o, args[0])
			}
			for _, name := range []string{"attribute", "counting", "partitions", "reveal"} {
				if cmd.Flags().Changed(name) {
					return cli.Usagef("--migration explains a row, which is not a message: leave --%s out", name)
				}
			}
			return a.explainRow(o, args[0])
		},
	}
	cmd.Flags().StringVar(&o.pipeline, "pipeline", "pipeline.yaml", "the pipeline to explain it with")
	cmd.Flags().StringArrayVar(&o.attributes, "attribute", nil, "a message attribute as NAME=VALUE; repeatable")
	cmd.Flags().StringVar(&o.counting, "counting", "marks", "how totals are counted: marks or receipts")
	cmd.Flags().IntVar(&o.partitions, "partitions", 4, "partitions of the events table, for the estimates: 1 to 10000")
	cmd.Flags().StringVar(&o.now, "now", "", "explain the event as of this time (RFC 3339) instead of now")
	cmd.Flags().BoolVar(&o.reveal, "reveal", false, command.RevealUsage)
	cmd.Flags().StringVar(&o.migration, "migration", "", "explain a row of an old table, with this migration.yaml")
	command.HasJSON(cmd, explainJSON)
	return cmd
}

func (a *app) explain(o explainOptions, name string) error {
	explainer, err := a.explainer(o)
	if err != nil {
		return cli.Usage(err)
	}
	messages, err := a.messages(o, name)
	if err != nil {
		return cli.Usage(err)
	}
	report := explainer.Explain(messages)
	return cli.Differs(a.Print(report, report.WriteText), report.Quarantined())
}

// explainRow explains what a row of an old table becomes.
func (a *app) explainRow(o explainOptions, name string) error {
	with, err := a.explainer(o)
	if err != nil {
		return cli.Usage(err)
	}
	m, err := tool.Load(o.migration, with.Pipeline)
	if err != nil {
		return err
	}
	text, err := a.eventText(name)
	if err != nil {
		return cli.Usage(err)
	}
	row, err := tool.ReadRow([]byte(text))
	if err != nil {
		return cli.Usagef("%s: %w", name, err)
	}
	e := tool.Explain(migrate.Copies(m, row, nil, with.Now))
	return cli.Differs(a.Print(e, e.Write), e.Refused != "")
}

// explainer compiles the pipeline with the secret of the environment, or with the stand-in.
func (a *app) explainer(o explainOptions) (*explain.Explainer, error) {
	e := &explain.Explainer{Partitions: o.partitions}
	var err error
	if e.Counting, err = command.ParseCounting(o.counting); err != nil {
		return nil, err
	}
	if o.partitions < 1 || o.partitions > 10000 {
		return nil, fmt.Errorf("--partitions %d: give 1 to 10000", o.partitions)
	}
	if e.Now, err = asOf(o.now); err != nil {
		return nil, err
	}
	secret, standIn := a.LocalSecret()
	file, p, err := command.LoadFile(o.pipeline, command.NoPipeline, pipeline.Secret(secret))
	if err != nil {
		return nil, err
	}
	e.Pipeline = p
	e.Personal = show.Masks(p, o.reveal)
	e.StandInKey, e.Schemas = standIn && e.Pipeline.UsesHMAC(), pipeline.SchemaFiles(file.Text)
	return e, nil
}

func (a *app) messages(o explainOptions, name string) ([]explain.Message, error) {
	text, err := a.eventText(name)
	if err != nil {
		return nil, err
	}
	list, batch, err := explain.Messages(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(list) == 0 {
		return nil, nil
	}
	if batch && len(o.attributes) > 0 {
		return nil, fmt.Errorf("%s is a batch, whose messages have attributes of their own; leave out --attribute", name)
	}
	if len(o.attributes) == 0 {
		return list, nil
	}
	attributes, err := command.ParseAttributes(o.attributes)
	for i := range list {
		list[i].Attributes = attributes
	}
	return list, err
}

func (a *app) eventText(name string) (string, error) {
	from, _, err := a.Open(name, "name an event file")
	if err != nil {
		return "", err
	}
	defer from.Close()
	text, err := io.ReadAll(io.LimitReader(from, command.MaxInput+1))
	if err == nil && len(text) > command.MaxInput {
		err = fmt.Errorf("it has more than %d bytes, and neither SQS nor Lambda carries that", command.MaxInput)
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		return "", fmt.Errorf("%s: %w; name an event file, or - for standard input", name, path.Err)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return string(text), nil
}
