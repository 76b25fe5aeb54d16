// Command totals verifies, rebuilds and reads the totals of a deployed stack, and erases events.
//
// It is an example of what the library can do with a deployed stack. It is complete, and short
// enough to copy. It reads the pipeline.yaml of the directory that it runs in, which must be the
// deployed one. It reads the names of the tables from INGOT_TABLE and INGOT_AGGREGATES_TABLE, and
// the secret of hmac from INGOT_PII_KEY. docs/deploy.md says where these come from.
//
//	totals verify                               compare every total with the items
//	totals touch NAME                           begin to bring older items into an aggregate; says how to go on
//	totals finish NAME BEHIND                   declare it complete, if it is
//	totals read NAME FIELDS [FROM TO]           FIELDS: JSON of the fields that its by uses, {} for none;
//	                                            FROM, TO: days as 2026-03-01, for an aggregate with windows
//	totals erase PK SK                          erase the event under a key and bar the key
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/store/repair"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify"
)

func main() {
	if err := run(context.Background(), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "totals:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	plan, err := pipeline.Load(os.DirFS("."), "pipeline.yaml", pipeline.Secret([]byte(os.Getenv("INGOT_PII_KEY"))))
	if err != nil {
		return err
	}
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return err
	}
	st, err := store.New(tables.Config{Client: dynamodb.NewFromConfig(cfg), Pipeline: plan,
		Events: os.Getenv("INGOT_TABLE"), Aggregates: os.Getenv("INGOT_AGGREGATES_TABLE")})
	if err != nil {
		return err
	}
	return stack{plan, st, os.Stdout}.command(ctx, args)
}

// stack has the two tables of a stack.
type stack struct {
	plan  *pipeline.Pipeline
	store *store.Store
	out   io.Writer
}

func (t stack) command(ctx context.Context, args []string) error {
	args = append(args, "", "", "", "", "") // so that each of them can be read
	switch name := args[1]; args[0] {
	case "verify":
		return t.verify(ctx)
	case "touch":
		return t.touch(ctx, name)
	case "finish":
		behind, err := strconv.ParseInt(args[2], 10, 64)
		if err != nil {
			return errors.New("finish NAME BEHIND: BEHIND is the number that touch has printed")
		}
		return t.finish(ctx, name, behind)
	case "read":
		return t.read(ctx, name, args[2], args[3], args[4])
	case "erase":
		return t.erase(ctx, event.Key{PK: name, SK: args[2]})
	}
	return errors.New("say verify, touch NAME, finish NAME BEHIND, read NAME FIELDS [FROM TO], or erase PK SK")
}

func (t stack) verify(ctx context.Context) error {
	report, err := verify.Totals(ctx, t.plan, t.store, time.Now())
	if err != nil {
		return err
	}
	for _, d := range report.Differences {
		fmt.Fprintln(t.out, d)
	}
	for _, flagged := range report.Flagged {
		fmt.Fprintln(t.out, "flagged:", flagged)
	}
	for _, def := range report.Building {
		fmt.Fprintln(t.out, "building:", def)
	}
	fmt.Fprintf(t.out, "%d items, %d totals, %d of them in part: %d differences\n", report.Items, report.Totals, report.Partly,
		len(report.Differences))
	if n := report.MissingParts; n > 0 {
		fmt.Fprintln(t.out, "missing parts:", n)
	}
	if !report.OK() {
		return errors.New("totals differ from the items, or parts are missing")
	}
	return nil
}

func (t stack) definition(name string) (*aggregate.Definition, error) {
	def, ok := t.plan.Definition(name)
	if !ok {
		return nil, fmt.Errorf("no aggregate %s in pipeline.yaml", name)
	}
	return def, nil
}

// touch stamps the older items one after another, and the stream brings them in. You may stop it
// and run it again.
func (t stack) touch(ctx context.Context, name string) error {
	def, err := t.definition(name)
	if err != nil {
		return err
	}
	pass, err := repair.Of(t.store).BeginPass(ctx, def)
	if err != nil {
		return err
	}
	touched, err := repair.Of(t.store).Touch(ctx)
	fmt.Fprintf(t.out, "touched %d of %d items\n", touched.Touched, touched.Scanned)
	if err == nil {
		fmt.Fprintf(t.out, "when the stream has brought them: totals finish %s %d\n", name, pass.Behind)
	}
	return err
}

func (t stack) finish(ctx context.Context, name string, behind int64) error {
	def, err := t.definition(name)
	if err != nil {
		return err
	}
	differences, err := verify.Finish(ctx, t.plan, t.store, tables.Pass{Definition: def, Behind: behind}, time.Now())
	for _, d := range differences {
		fmt.Fprintln(t.out, d)
	}
	switch {
	case err != nil:
		return err
	case len(differences) > 0:
		return fmt.Errorf("%s is not complete yet", def)
	}
	fmt.Fprintf(t.out, "%s is complete\n", def)
	return nil
}

// erase removes an event from the table for good. You may run it again.
func (t stack) erase(ctx context.Context, key event.Key) error {
	if key.PK == "" || key.SK == "" {
		return errors.New("erase PK SK: both are part of the key")
	}
	erased, err := repair.Of(t.store).Erase(ctx, key)
	switch {
	case err != nil:
		return err
	case erased:
		fmt.Fprintln(t.out, "erased, and its key is barred")
	default:
		fmt.Fprintln(t.out, "no event is stored there; the key is barred")
	}
	fmt.Fprintf(t.out, "archive objects: expired/%s/\n", key.Hash())
	return nil
}

func (t stack) read(ctx context.Context, name, fields, first, last string) error {
	by, err := t.plan.By(name, envelope.Message{Body: fields})
	if err != nil {
		return err
	}
	var from, to time.Time
	if first != "" {
		if from, err = time.Parse(time.DateOnly, first); err != nil {
			return err
		}
		if to, err = time.Parse(time.DateOnly, last); err != nil {
			return err
		}
	}
	totals, err := query.Of(t.store).Total(ctx, name, by, from, to)
	if err == nil && (len(totals) == 0 || totals[0].Missing) {
		fmt.Fprintln(t.out, "nothing is counted there")
	}
	for _, total := range totals {
		if !total.Window.IsZero() {
			fmt.Fprint(t.out, total.Window.Format(time.RFC3339), " ")
		}
		for _, value := range slices.Sorted(maps.Keys(total.Values)) {
			fmt.Fprint(t.out, value, "=", total.Values[value], " ")
		}
		fmt.Fprintln(t.out, "building:", total.Building)
		for _, flag := range total.Flags {
			fmt.Fprintln(t.out, "flagged:", flag)
		}
	}
	return err
}
