package operate

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	record "github.com/ingot-events/ingot/handler/quarantine"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/quarantine"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/publish"
	"github.com/ingot-events/ingot/tables"
)

const publishAgainHelp = `Sends the events that are stored now, and whose time is TIME or later, to the targets of
publish.yaml as stored. It reads the whole events table. Each event has the id of the first time, so a
receiver that knows it does nothing. What is stored no more, or was stored between two versions, is not
sent. Nor is what surely does not meet when: nobody knows the payload before, so each changed(PATH) and
before(PATH) may be true or false. No message has before. Use it for a new publication, for what the
publish function has put into quarantine, and after a target has lost something.

A removal that was given up is in its letter alone: name the folder of ingot quarantine pull with --letters.
It is not sent if an event is stored under its key again. At the end the command says which letters to drop, and of
each other letter why nobody was told what it is about.

The targets are asked with your own credentials. The variables of publish.yaml are read from your environment.`

type publishOptions struct {
	file, since, letters string
	only                 []string
}

func newPublish(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "publish", Short: "Send stored events to the targets of publish.yaml again",
		Long: "Works on what publish.yaml publishes: see " + excerpt.Page("publishing.md") + "."}
	cmd.AddCommand(a.publishAgain())
	return cmd
}

func (a *app) publishAgain() *cobra.Command {
	var o publishOptions
	cmd := &cobra.Command{
		Use:   "again",
		Short: "Publish what is stored once more",
		Long:  publishAgainHelp,
		Example: `  ingot publish again --since 2026-03-01 --stack shop
  ingot publish again --since 2026-03-01T09:00:00Z --only orders --letters letters --stack shop`,
		Args: command.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			since, err := keys.ParseTime(o.since)
			if day, bad := time.Parse(time.DateOnly, o.since); bad == nil {
				since, err = day, nil
			}
			if err != nil {
				return cli.Usagef("--since %q is not a time: write a day such as 2026-03-01, or a time such as 2026-03-01T09:00:00Z", o.since)
			}
			return a.again(cmd, o, since)
		},
	}
	command.OnPipeline(cmd, "")
	cmd.Flags().StringVar(&o.file, "publish", "publish.yaml", "the file that says what is published")
	cmd.Flags().StringVar(&o.since, "since", "", "the time of the first event: a day, or a time in RFC 3339")
	cmd.Flags().StringVar(&o.letters, "letters", "", "a folder of letters: send their removals, too")
	cmd.Flags().StringSliceVar(&o.only, "only", nil, "the names of publications, with commas between (default all)")
	return cmd
}

func (a *app) again(cmd *cobra.Command, o publishOptions, since time.Time) error {
	ctx := cmd.Context()
	t, p, err := a.Reach(ctx, command.Use{Hashes: true})
	if err != nil {
		return err
	}
	plan, err := publish.Load(os.DirFS(filepath.Dir(o.file)), filepath.Base(o.file), p)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return cli.Usagef("there is no %s: name the file that says what is published with --publish FILE", o.file)
	case err != nil:
		return cli.Usagef("%s has mistakes:\n%w", o.file, err)
	}
	for _, name := range o.only {
		if !slices.ContainsFunc(plan.Publications, func(of publish.Publication) bool { return of.Name == name }) {
			return cli.Usagef("%s has no publication %s", o.file, name)
		}
	}
	if plan, err = plan.Resolved(os.Getenv); err != nil {
		return cli.Usage(err)
	}
	if err := command.NeedsPayloads(t, p); err != nil {
		return err
	}
	publisher, err := publish.New(plan, tables.Config{Client: t.DynamoDB(), Events: t.EventsTable, Aggregates: t.AggregatesTable,
		Objects: t.S3(), PayloadBucket: t.PayloadBucket, Env: a.Clock}, publish.Targets(t.AWS))
	if err != nil {
		return err
	}
	ids, letters, err := givenUp(o.letters)
	if err != nil {
		return cli.Usage(err)
	}
	if err := a.Announce(t); err != nil {
		return err
	}
	for _, of := range plan.Publications {
		if of.AsksBefore() && (len(o.only) == 0 || slices.Contains(o.only, of.Name)) {
			a.Say("%s: the payload before is not known now, so all that may meet its when is sent", of.Name)
		}
	}
	sent, left, err := publisher.Again(ctx, since, o.only, letters)
	if err != nil {
		return fmt.Errorf("%d messages are sent, and then one was refused; run the command again when that is mended: %w", sent, err)
	}
	fmt.Fprintf(a.Stdout, "%d messages are sent\n", sent)
	if len(o.only) == 0 { // a letter may have a removal for another publication
		a.sayDrop(o.letters, ids, left)
	}
	return nil
}

// sayDrop says which letters are done with, and which still hold what nobody was told.
func (a *app) sayDrop(folder string, ids []string, left map[int]string) {
	var done []string
	for i, id := range ids {
		if why, is := left[i]; is {
			a.Say("not sent: %s: %s", id, why)
		} else {
			done = append(done, id)
		}
	}
	switch {
	case len(done) == 0:
	case len(left) == 0:
		a.Say("next: ingot quarantine drop %s --reason %s", show.Quoted(folder), record.Unpublished)
	default:
		a.Say("next: ingot quarantine drop %s %s", show.Quoted(folder), strings.Join(done, " "))
	}
}

// givenUp returns the letters of the publish function in a folder, with their ids.
func givenUp(folder string) (ids []string, list []record.Record, err error) {
	if folder == "" {
		return nil, nil, nil
	}
	dir, err := quarantine.OpenDir(folder)
	if err != nil {
		return nil, nil, err
	}
	letters, err := dir.List()
	if err != nil {
		return nil, nil, err
	}
	for _, l := range letters {
		if !l.Open() || l.Note == nil || l.Note.Reason != string(record.Unpublished) {
			continue
		}
		var r record.Record
		if err := json.Unmarshal([]byte(l.Body), &r); err != nil {
			return nil, nil, fmt.Errorf("%s: its body is not a letter of the publish function: %w", dir.File(l.ID), err)
		}
		ids, list = append(ids, l.ID), append(list, r)
	}
	return ids, list, nil
}
