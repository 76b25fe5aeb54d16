package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/archive"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/erase"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
)

func newArchive(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "archive",
		Short: "Read the archive, find events in it, and take events out of it",
		Long: `The archive bucket keeps events that have expired: in files of many events, or in an object for each. The commands
read both. ` + excerpt.Page("erasing.md#the-archive") + ` says what is in a file.`,
		Args: cobra.NoArgs,
	}
	cmd.AddCommand(a.archiveRead(), a.archiveFind(), a.archiveErase())
	return cmd
}

// archiveOptions are the flags of the commands.
type archiveOptions struct {
	days archive.Days
	typ  string
	file string // of keys
	yes  bool
}

// onArchive completes a command that works on the archive of a stack.
func (a *app) onArchive(cmd *cobra.Command, o *archiveOptions,
	run func(ctx context.Context, b *archive.Bucket, args []string) error,
) *cobra.Command {
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, day := range []string{o.days.From, o.days.To} {
			if _, err := time.Parse(time.DateOnly, day); day != "" && err != nil {
				return cli.Usagef("%q is not a day: write one as 2026-03-01", day)
			}
		}
		t, err := a.Find(cmd.Context())
		if err != nil {
			return err
		}
		if t.ArchiveBucket == "" {
			return cli.Refusedf("%s has no archive bucket", t)
		}
		return run(cmd.Context(), &archive.Bucket{S3: t.S3(), Name: t.ArchiveBucket}, args)
	}
	command.OnStack(cmd, "")
	return cmd
}

func daysFlags(cmd *cobra.Command, o *archiveOptions) {
	cmd.Flags().StringVar(&o.days.From, "from", "", "only files from this day on, as 2026-03-01: the UTC day on which items were removed")
	cmd.Flags().StringVar(&o.days.To, "to", "", "only files to this day")
}

func (a *app) archiveRead() *cobra.Command {
	var o archiveOptions
	cmd := &cobra.Command{
		Use: "read",
		Example: `  ingot archive read --stack shop
  ingot archive read --stack shop --from 2026-03-01 --to 2026-03-31 --type order.placed`,
		Short: "Print what is in the archive, an item on each line",
		Long: `Prints each item once, as {"Item":{…}}, which is how DynamoDB exports a table and imports one. With --from or --to,
it reads only files: an object does not say on which day its item was removed. What is broken or foreign is named,
and the rest is read.

Exit code 3: something in the archive cannot be read.`,
		Args: command.NoArguments,
	}
	cmd.Flags().StringVar(&o.typ, "type", "", "only events of this type")
	daysFlags(cmd, &o)
	return a.onArchive(cmd, &o, func(ctx context.Context, b *archive.Bucket, _ []string) error {
		broken := 0
		for item, err := range b.Read(ctx, o.days) {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case err != nil && (item.Name == "" || target.Refused(err)):
				return err
			case err != nil:
				broken++
				a.Say("%v", err)
			case o.typ == "" || o.typ == item.Event.Type:
				if _, err := fmt.Fprintf(a.Stdout, "{\"Item\":%s}\n", item.Image); err != nil {
					return err
				}
			}
		}
		if broken > 0 {
			return cli.Difference()
		}
		return nil
	})
}

func (a *app) archiveFind() *cobra.Command {
	var o archiveOptions
	cmd := &cobra.Command{
		Use:     "find PK SK",
		Example: `  ingot archive find ORDER#o-1 PLACED --stack shop --from 2026-03-01`,
		Short:   "Find an event by its key",
		Long: `Reads the files of the days, and without days also the objects, and prints the items under a key. "Not found" does
not mean that it was never stored: it may not have expired, may have been erased, or may be of another day.

Exit code 3: not found, or something in the archive cannot be read.`,
		Args: cobra.ExactArgs(2),
	}
	daysFlags(cmd, &o)
	return a.onArchive(cmd, &o, func(ctx context.Context, b *archive.Bucket, args []string) error {
		list, files, err := b.Find(ctx, map[event.Key]bool{{PK: args[0], SK: args[1]}: true}, o.days)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for _, item := range list {
			if err := a.WriteJSON(map[string]any{"name": item.Name, "item": json.RawMessage(item.Image)}); err != nil {
				return err
			}
		}
		switch {
		case target.Refused(err):
			return err
		case err != nil:
			a.Say("%v", err)
			return cli.Difference()
		case len(list) == 0:
			a.Say("not found in %s", show.Count(files, "object"))
			return cli.Difference()
		}
		return nil
	})
}

func (a *app) archiveErase() *cobra.Command {
	var o archiveOptions
	var keys []event.Key
	cmd := &cobra.Command{
		Use: "erase [PK SK]…",
		Example: `  ingot archive erase ORDER#o-1 PLACED --yes --stack shop
  ingot archive erase --keys c-9.ndjson --yes --stack shop`,
		Short: "Take events out of the files of the archive",
		Long: `Writes each file anew in which one of the events is, on condition that it is as it was read. --keys names a file of
keys that ingot erase has written; with --archive, it has also found the parts that the events had. A file stays,
even if it is empty then: otherwise a batch that is delivered again would put it again. So run the command again
once the stream's 24 hours are over. The bucket keeps what a file was before for 30 days, as older versions. Objects
are what ingot erase is for.`,
		Args: cobra.ArbitraryArgs,
		PreRunE: func(_ *cobra.Command, args []string) (err error) {
			if keys, err = o.keys(args); err != nil {
				return cli.Usage(err)
			}
			if !o.yes {
				return cli.Usagef("archive erase writes files again: write --yes")
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&o.file, "keys", "", "a file of keys that ingot erase has written")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "confirm that files are to be written")
	daysFlags(cmd, &o)
	return a.onArchive(cmd, &o, func(ctx context.Context, b *archive.Bucket, _ []string) error {
		names, err := b.Erase(ctx, keys, o.days)
		for _, name := range names {
			fmt.Fprintf(a.Stdout, "s3://%s/%s\n", b.Name, name)
		}
		if err != nil {
			return fmt.Errorf("%w\n%s written; what could not be read or written may still have such an event: run the command again. "+
				"If a file stays broken, look at it, and delete it", err, show.Count(len(names), "file"))
		}
		fmt.Fprintf(a.Stdout, "%s had such an event, and none has one now\n", show.Count(len(names), "file"))
		return nil
	})
}

// keys returns those that the command line names.
func (o *archiveOptions) keys(args []string) ([]event.Key, error) {
	switch {
	case o.file != "" && len(args) == 0:
		return erase.KeysIn(o.file)
	case o.file == "" && len(args) > 0 && len(args)%2 == 0:
		var list []event.Key
		for pair := range slices.Chunk(args, 2) {
			list = append(list, event.Key{PK: pair[0], SK: pair[1]})
		}
		return list, nil
	}
	return nil, errors.New("name each event by PK and SK, or all of them by a file with --keys")
}
