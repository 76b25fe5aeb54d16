package migrate

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"os"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/cmd/ingot/command/pass"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/esm"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/cost"
	tool "github.com/ingot-events/ingot/internal/tool/migrate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/worker"
)

var migrateHelp = `Moves a live DynamoDB table into the events table of a stack, as migration.yaml says. The steps are capture, backfill,
compare, turn and retire, and back after a turn. Nothing turns before a comparison has found both tables equal.
` + excerpt.Page("migrating.md") + ` tells the whole story.

The old table is read in the stack's account and Region. Nothing is written to it, except that it follows the new
one after a turn if migration.yaml has back.`

type migrateOptions struct {
	file      string
	function  string
	pass      pass.Options // of compare
	rows      int
	rate      float64
	plan      bool
	quiet     time.Duration
	remove    bool
	unwatched bool
	yes       bool
}

func newMigrate(a *app) *cobra.Command {
	cmd := &cobra.Command{Use: "migrate", Short: "Move a live table into the events table", Long: migrateHelp}
	for _, s := range []step{a.statusStep(), a.captureStep(), a.backfillStep(), a.compareStep(), a.turnStep(), a.backStep(),
		a.retireStep()} {
		cmd.AddCommand(a.migrateStep(s))
	}
	return cmd
}

// step is a command of a migration that works on a stack.
type step struct {
	use, example, short, long string
	without                   string // what is said without --yes; empty: the command changes nothing but its evidence
	yes                       string // what --yes confirms
	reads                     bool   // its clients cannot write
	function, quiet           bool   // it has these flags
	proves                    bool   // it needs the proof of how far capture is
	flags                     func(*pflag.FlagSet, *migrateOptions)
	check                     func(*migrateOptions) error // of its own flags; may be nil
	run                       func(context.Context, *moving, *migrateOptions) error
}

func (a *app) migrateStep(s step) *cobra.Command {
	var o migrateOptions
	cmd := &cobra.Command{Use: s.use, Example: s.example, Short: s.short, Long: s.long, Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if s.without != "" && !o.yes {
				return cli.Usagef("%s", s.without)
			}
			if s.check != nil {
				if err := s.check(&o); err != nil {
					return cli.Usage(err)
				}
			}
			o.plan = cmd.Flags().Changed("rows")
			m, err := a.moving(cmd.Context(), &o, !s.reads || o.function != "")
			if err == nil && (s.proves || s.reads && o.function != "") {
				err = a.noted(cmd.Context(), m)
			}
			if err == nil {
				err = s.run(cmd.Context(), m, &o)
			}
			if stop := (*migrate.StopError)(nil); errors.As(err, &stop) { // a person can act on it
				return cli.Refused(err)
			}
			return err
		},
	}
	command.OnPipeline(cmd, "")
	cmd.Flags().StringVar(&o.file, "migration", "migration.yaml", "the file that says what rows become")
	if s.without != "" {
		cmd.Flags().BoolVar(&o.yes, "yes", false, s.yes)
	}
	if s.function {
		cmd.Flags().StringVar(&o.function, "function", "", "the deployed function that captures, if it is not ingot migrate capture")
	}
	if s.quiet {
		cmd.Flags().DurationVar(&o.quiet, "quiet", migrate.Quiet, "how long the longest request of a producer may take; 0: it is not asked")
	}
	if s.flags != nil {
		s.flags(cmd.Flags(), &o)
	}
	return cmd
}

// moving is what the commands of a migration work on.
type moving struct {
	target  *target.Target
	mapping *rowmap.Mapping
	old     *migrate.Table
	sync    *migrate.Migration
	lag     tool.Proof // of how far capture is
	streams string     // that capture must read now
}

// noted proves how far capture is, and notes it on the control item. What then is missing is said
// by the step.
func (a *app) noted(ctx context.Context, m *moving) error {
	a.Say("waiting for the proof that capture has done what was written before now, which takes two minutes or more")
	at, err := m.lag.Counted(ctx)
	if err == nil {
		err = m.sync.NoteCaptured(ctx, m.streams, at)
	}
	return err
}

// moving finds the stack, the old table and the mapping. A command that does not write gets clients
// that cannot.
func (a *app) moving(ctx context.Context, o *migrateOptions, writes bool) (*moving, error) {
	t, p, err := a.Reach(ctx, command.Use{Hashes: true, Writes: writes, Wakes: true})
	if err != nil {
		return nil, err
	}
	m, err := tool.Load(o.file, p)
	if err != nil {
		return nil, err
	}
	var client tables.Client = t.DynamoDB()
	if !writes {
		client = tool.ReadOnly{Client: client}
	}
	from, err := m.From(os.Getenv)
	if err != nil {
		return nil, cli.Usage(err)
	}
	var source tables.Client = tool.ReadOnly{Client: client}
	if m.GoesBack() {
		source = client // capture writes the old table after the turn
	}
	old, err := migrate.Find(ctx, source, t.DynamoDB(), from, t.EventsTable)
	if err != nil {
		return nil, cli.Usage(err)
	}
	if writes {
		if err := a.Announce(t); err != nil {
			return nil, err
		}
	}
	if err := command.NeedsPayloads(t, p); err != nil {
		return nil, err
	}
	s, err := migrate.NewMigration(m, old.Source, tables.Config{Client: client, Events: t.EventsTable, Aggregates: t.AggregatesTable,
		Objects: t.S3(), PayloadBucket: t.PayloadBucket, Env: a.Clock})
	if err != nil {
		return nil, err
	}
	found := &moving{target: t, mapping: m, old: old, sync: s}
	c, err := s.Control(ctx)
	if err != nil {
		return nil, err
	}
	found.streams = s.Streams(c)
	found.lag = tool.Proof{Ends: tool.Ends{Client: dynamodbstreams.NewFromConfig(t.AWS), Clock: a.Clock}, Migration: s,
		Streams: strings.Fields(found.streams)}
	if t.OnThisMachine() {
		found.lag.Settle = 5 * time.Second // an emulator shows a record at once
	}
	if c != nil {
		found.lag.Covered = c.Compared
	}
	if o.function != "" {
		d := tool.CaptureFunction{Client: a.Pauser(t).Client, Name: o.function}
		found.lag.Why = d.Why
		err = d.Reads(ctx, found.lag.Streams)
	}
	return found, err
}

func (a *app) backfillStep() step {
	return step{
		use:     "backfill --yes",
		example: `  ingot migrate backfill --yes --stack shop`,
		short:   "Copy all rows, or mend what differs",
		long: `Goes over all rows of the old table. The first pass inserts what is absent; a later one makes rows and copies equal,
and leaves a tombstone where a row is gone. It may be stopped and run again; after one that was killed, it first
waits for 17 minutes at most, and says so. Capture must be on before the first pass begins: a row that changes
behind the scan would be missed. A pass stops once it has removed more than 1 % of the copies, and more than 100,
because a mistake looks like that; with --remove it goes on.`,
		without: "backfill writes a copy of each row: see what it costs with ingot migrate status, then write --yes",
		yes:     "confirm that copies are to be written",
		flags: func(f *pflag.FlagSet, o *migrateOptions) {
			f.BoolVar(&o.remove, "remove", false, "go on also if more than 1 % of the copies have no row any more")
		},
		run: a.backfill,
	}
}

func (a *app) backfill(ctx context.Context, m *moving, o *migrateOptions) error {
	agreed := pass.Options{Yes: o.yes}
	if _, err := agreed.Begin(a.App, "backfill reads", pass.PriceOfRows(m.old), nil); err != nil { // status says what it writes
		return err
	}
	c, err := m.sync.Begin(ctx)
	if err != nil {
		return err
	}
	switch {
	case m.old.Stream == "":
		a.Say("table %s has no stream: a row that changes behind the pass is missed, and nothing turns. Switch one on, with new and "+
			"old images, start capture, and then run another pass", m.old.Table)
	case c.Stream == "":
		a.Say("capture has not begun: a row that changes behind the pass is missed. Start it, with ingot migrate capture or its " +
			"function; if it had not been on by now, run another pass")
	}
	pass, err := m.sync.BeginPass(ctx)
	if err != nil {
		return err
	}
	pass.Remove = o.remove
	last, waits := time.Now(), time.Duration(math.MaxInt64)
	done, err := pass.Run(ctx, func(p migrate.Progress) {
		switch {
		case waits-p.Waits >= time.Minute && p.Waits > 0:
			waits = p.Waits
			a.Say("another pass was killed, or still runs, and what it has sent may be on its way: this one begins in %s",
				waits.Round(time.Second))
		case time.Since(last) > 10*time.Second:
			last = time.Now()
			a.Say("%s rows read", show.Comma(p.Rows))
		}
	})
	if err != nil {
		return err
	}
	tool.WritePass(a.Stdout, pass.Number, done)
	return nil
}

func (a *app) captureStep() step {
	return step{
		use:     "capture --yes",
		example: `  ingot migrate capture --yes --stack shop`,
		short:   "Copy rows as they change, until it is stopped",
		long: `Reads the stream of the old table from its oldest record on, and makes the copy of each changed row equal to the
row. It runs until you stop it, and may run beside the function that does the same. Run it for as long as rows
change.`,
		without: "capture writes copies of changed rows: write --yes",
		yes:     "confirm that copies are to be written",
		run: func(ctx context.Context, m *moving, _ *migrateOptions) error {
			if m.old.Stream == "" {
				return cli.Refusedf("table %s has no stream: switch one on, with new and old images", m.old.Table)
			}
			_, err := m.sync.Begin(ctx)
			if err == nil {
				err = m.sync.NoteStream(ctx, m.streams)
			}
			if err != nil {
				return err
			}
			capture := &migrate.Capture{Migration: m.sync, Log: slog.New(slog.NewTextHandler(a.Stderr, nil))}
			poller, err := tool.NewPoller(capture, dynamodbstreams.NewFromConfig(m.target.AWS), m.old.Source,
				esm.Function{Now: a.Clock.Real().Now})
			if err != nil {
				return err
			}
			a.Say("reading the stream of %s, and with back that of the events table, as one more reader: a shard has room for two, "+
				"and of a table in several Regions for one", m.old.Table)
			a.Say("copying what changes in %s; stop it with ctrl-C", m.old.Table)
			return poller.Run(ctx, a.Clock.Real().Sleep, func(text string) { a.Say("%s", text) })
		},
	}
}

func (a *app) compareStep() step {
	return step{
		use: "compare",
		example: `  ingot migrate compare --stack shop
  ingot migrate compare --stack shop --function shop-migrate-CaptureFunction-1A2B3C
  ingot migrate compare --stack shop --large arn:aws:states:eu-west-1:111122223333:stateMachine:shop-verify --work s3://my-bucket/users`,
		short: "Prove that rows and copies are equal, while both change",
		long: `Reads both tables once and adds up what each key should say. Keys that differ are looked at three times, each after
capture has done what was written before the look before. What does not change and differs is a difference. The
result is kept as the evidence for a turn, and counts for 24 hours.

It first prints what it reads and what that costs, as ingot verify does, and asks in the same way.

Exit code 3: something stands against a turn.`,
		function: true,
		flags: func(f *pflag.FlagSet, o *migrateOptions) {
			o.pass.PassFlags(f)
			o.pass.WorkFlag(f)
			o.pass.LargeFlags(f)
		},
		check: func(o *migrateOptions) error { return o.pass.Check(worker.Compare) },
		run: func(ctx context.Context, m *moving, o *migrateOptions) error {
			if begin, err := o.pass.Begin(a.App, "compare reads", pass.PriceOfComparison(m.old), nil); !begin {
				return err
			}
			if err := m.sync.NoteStream(ctx, m.streams); err != nil {
				return err
			}
			m.lag.Covered = a.Clock.Real().Now() // it begins now
			c, err := a.compare(ctx, m, &o.pass)
			if err != nil {
				return err
			}
			return cli.Differs(a.Print(c, func(b *strings.Builder) { tool.WriteCompared(b, c) }), !c.Clean())
		},
	}
}

// compare compares on this machine, or lets workers read both tables.
func (a *app) compare(ctx context.Context, m *moving, o *pass.Options) (found *migrate.Compared, err error) {
	of, err := o.Config(a.App, m.target, m.target.Account+" "+m.target.Region+" "+m.old.Table+" "+m.target.EventsTable)
	if err != nil {
		return nil, err
	}
	reading := pass.Part{Name: "reading", Of: 2 * int(m.old.Items), Lost: "what was read is lost"}
	err = o.Run(ctx, a.App, &of, reading, func() error {
		c, err := m.sync.Comparison(ctx, of)
		switch {
		case err != nil:
		case o.Large == "":
			found, err = c.Run(ctx, m.lag)
		default:
			if err = o.AtLarge(ctx, a.App, m.target, worker.Compare, of.About, c.Done); err == nil {
				found, err = c.Finish(ctx, m.lag)
			}
		}
		return err
	})
	return found, err
}

func (a *app) statusStep() step {
	return step{
		use: "status",
		example: `  ingot migrate status --stack shop
  ingot migrate status --local --rows 0`,
		short: "Show which side is the source, and what is missing for the next step",
		long: `Shows the state of each type, and what is missing before it may turn. Before the first pass, and with --rows, it also
reads some rows of the old table: it shows what they become and which are refused, and for each step what it takes,
what it costs and what it proves. Its client cannot write. With --function, it first waits for the proof of how far
that function is, and notes it.`,
		reads:    true,
		function: true,
		quiet:    true,
		flags: func(f *pflag.FlagSet, o *migrateOptions) {
			f.IntVar(&o.rows, "rows", 10_000, "read so many rows; 0: all of them")
			f.Float64Var(&o.rate, "rate", 1000, "write units a second, for the hours of each step")
		},
		run: func(ctx context.Context, m *moving, o *migrateOptions) error {
			missing, control, err := m.sync.Missing(ctx, o.quiet)
			if err != nil {
				return err
			}
			s := tool.Status(m.mapping, m.old, missing, control)
			if s.Pass == 0 || o.plan {
				if s.Plan, err = a.planOf(ctx, m, o); err != nil {
					return err
				}
			}
			return a.Print(s, s.Write)
		},
	}
}

func (a *app) planOf(ctx context.Context, m *moving, o *migrateOptions) (*tool.Plan, error) {
	sample, err := tool.Read(ctx, m.mapping, m.old, o.rows, a.Clock.Real().Now())
	if err != nil {
		return nil, err
	}
	prices, err := cost.PricesOf("")
	if err != nil {
		return nil, err
	}
	return tool.PlanOf(m.mapping, m.old, sample, prices, o.rate), nil
}

func (a *app) turnStep() step {
	return step{
		use:     "turn --yes",
		example: `  ingot migrate turn --yes --stack shop`,
		short:   "Make the new table the source of the migration's types",
		long: `Makes the new table the source. Before it: producers no longer write the old table, and its stream has been silent
for --quiet and is read to its end. The turn waits for half a minute, until no batch of capture writes any more.
From then on, messages of the types are stored; those that came earlier are in quarantine with the reason
not-turned. Then run ingot rebuild for each aggregate that the types feed: it counts what was copied. All types of a
migration turn together.`,
		without:  "a turn makes the new table the source: write --yes once capture has read all that producers wrote",
		yes:      "confirm the turn",
		function: true,
		proves:   true,
		quiet:    true,
		run: func(ctx context.Context, m *moving, o *migrateOptions) error {
			state, err := m.sync.Turn(ctx, o.quiet)
			if err != nil {
				return err
			}
			uncounted, err := m.sync.Uncounted(ctx)
			if err == nil {
				tool.WriteTurned(a.Stdout, m.mapping, state, uncounted)
			}
			return err
		},
	}
}

func (a *app) backStep() step {
	return step{
		use:     "back --yes",
		example: `  ingot migrate back --yes --stack shop`,
		short:   "Make the old table the source again, after a turn",
		long: `Makes the old table the source again. It needs back in migration.yaml, capture on the streams of both tables since
the turn, and a comparison of the last 24 hours. The first call lets messages wait in quarantine; after it, capture
brings to the old table what was stored before. The second call, --quiet later, makes the old table the source. Then
the old producers may write again, and messages wait until the types turn anew.`,
		without:  "going back stops the messages of the types: write --yes once their producers have stopped",
		yes:      "confirm that messages are to wait",
		function: true,
		proves:   true,
		quiet:    true,
		run: func(ctx context.Context, m *moving, o *migrateOptions) error {
			state, err := m.sync.Back(ctx, o.quiet)
			if err == nil {
				tool.WriteBack(a.Stdout, m.mapping, state, o.quiet)
			}
			return err
		},
	}
}

func (a *app) retireStep() step {
	return step{
		use:     "retire --yes",
		example: `  ingot migrate retire --yes --stack shop`,
		short:   "End a migration, so that the old table may go",
		long: `Ends a migration: it deletes the tombstones, and prints how to export and delete the old table, which it does not do
itself. It refuses while the types have not turned, while a total that they feed is not complete, and if the stream
of the old table has a change after the turn: what still writes there would be lost. It may be stopped and run
again.`,
		without: "retire deletes tombstones, and nothing copies from the old table any more: write --yes",
		yes:     "confirm that the migration is over",
		flags: func(f *pflag.FlagSet, o *migrateOptions) {
			f.BoolVar(&o.unwatched, "unwatched", false, "do not ask the old table's stream whether something still writes there")
		},
		run: func(ctx context.Context, m *moving, o *migrateOptions) error {
			late := tool.Late(m.lag.Ends, m.old)
			if o.unwatched {
				late = func(context.Context, time.Time) (int, error) { return 0, nil }
			}
			swept, err := m.sync.Retire(ctx, m.target.DynamoDB(), late)
			if err == nil {
				tool.WriteRetired(a.Stdout, m.mapping, m.old, swept)
			}
			return err
		},
	}
}
