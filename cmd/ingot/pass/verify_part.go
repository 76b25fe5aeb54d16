package pass

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/verify"
)

var verifyPartHelp = `Does one part of the work of ingot verify, for tables that are too large for one machine:

  segment N   read segment N of both tables, and write its sums into --work
  merge N     add up what all segments have for hash bucket N, and compare its totals
  result      print what all merges have found

Do each segment once, then merge each hash bucket once, then print the result. The first segment and the first bucket
are 0. The parts may run on any machine, all with the same --segments, --buckets and --work. A part that was stopped
goes on where it was, and a part that is done again counts once. ` + excerpt.Page("verify.md") + `
shows how.

Exit codes: 0 read, or equal, 1 failed, 2 usage, 3 different, 4 not permitted, 5 refused.

` + command.TargetHelp + `

With --output json, merge and result print the object of ingot verify.`

// These are the steps of ingot verify part.
const (
	ReadSegment = "segment"
	MergeBucket = "merge"
	PrintResult = "result"
)

const mostBuckets = 10_000

func newVerifyPart(a *app) *cobra.Command {
	var o verifyOptions
	cmd := &cobra.Command{
		Use:   "part {segment N | merge N | result}",
		Short: "Do one part of the work, on one of many machines",
		Long:  verifyPartHelp,
		Example: `  ingot verify part segment 3 --stack shop --segments 8 --buckets 4 --work s3://my-bucket/verify/2026-03-01
  ingot verify part merge 2 --stack shop --segments 8 --buckets 4 --work s3://my-bucket/verify/2026-03-01
  ingot verify part result --stack shop --segments 8 --buckets 4 --work s3://my-bucket/verify/2026-03-01`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.whichPart(cmd, args); err != nil {
				return cli.Usage(err)
			}
			return a.verify(cmd, o)
		},
	}
	a.TargetFlags(cmd)
	a.DeployedFlag(cmd)
	flags := cmd.Flags()
	flags.IntVar(&o.segments, "segments", 0, "into how many segments the tables are divided")
	flags.IntVar(&o.buckets, "buckets", 0, "into how many hash buckets the totals are divided")
	flags.BoolVar(&o.reveal, "reveal", false, "show personal values")
	passFlags(cmd, &o)
	return cmd
}

// whichPart reads the arguments of verify part, and says what is wrong with them.
func (o *verifyOptions) whichPart(cmd *cobra.Command, args []string) error {
	if o.segments == 0 || o.buckets == 0 {
		return errors.New("write --segments and --buckets, the same for all parts")
	}
	if err := o.check(); err != nil {
		return err
	}
	numbered := map[string]int{ReadSegment: o.segments, MergeBucket: o.buckets}
	switch {
	case o.buckets < 1 || o.buckets > mostBuckets:
		return fmt.Errorf("--buckets %d: give 1 to %d", o.buckets, mostBuckets)
	case o.work == "":
		return errors.New("the sums need a place: write --work s3://BUCKET/PREFIX, or --work DIR that all machines share")
	case o.dry && !slices.Contains(args, ReadSegment):
		return errors.New("merge and result read no items: leave --dry-run out")
	case len(args) == 1 && args[0] == PrintResult:
		o.step = PrintResult
		return nil
	case len(args) != 2 || numbered[args[0]] == 0:
		return fmt.Errorf("write segment and its number, merge and the number of a bucket, or result; see %s --help", cmd.CommandPath())
	}
	var err error
	o.step = args[0]
	if o.part, err = strconv.Atoi(args[1]); err != nil || o.part < 0 || o.part >= numbered[o.step] {
		return fmt.Errorf("%s %q: write a number; the first is 0 and the last is %d", o.step, args[1], numbered[o.step]-1)
	}
	return nil
}

// readSegment reads one segment.
func (a *app) readSegment(ctx context.Context, c verify.Config, segment int) error {
	read, err := verify.Segment(ctx, c, segment)
	switch {
	case err != nil:
	case read:
		a.Say("segment %d is read into %s", segment, c.Work)
	default:
		a.Say("segment %d was read into %s before: there is nothing to do", segment, c.Work)
	}
	return err
}
