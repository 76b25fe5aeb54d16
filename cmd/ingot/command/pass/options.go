// Package pass drives a pass over two tables, in the same steps and with the same words for every
// command: its flags ([Options]), what it takes ([Price]), whether the user agrees
// ([Options.Begin]), how far it is ([Options.Run]), and the workers that may do its parts
// ([Options.AtLarge]).
package pass

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/drained"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/verify/sums"
	"github.com/ingot-events/ingot/verify/work"
	"github.com/ingot-events/ingot/worker"
)

// Options say how a pass over two tables is divided, who does the parts, and whether it may begin.
type Options struct {
	Work     string        // the folder for files; empty: there is none
	Large    string        // ARN of the state machine; empty: this machine does the work
	Patience time.Duration // how long to wait for the stream
	Yes      bool          // do not ask

	segments, buckets, memory int
	rate                      float64
	dry                       bool
	prices                    string
}

const (
	// ownSegments is how many segments this machine reads at the same time, if nobody says it.
	ownSegments = 4
	// largeParts is how many segments and buckets a state machine has, if nobody says it.
	largeParts = 64
	// largeAtOnce is how many workers run at a time.
	largeAtOnce = 40
	// mostSegments is the limit of the service.
	mostSegments = 1_000_000
)

// PassFlags adds the flags of a pass on this machine.
func (o *Options) PassFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.segments, "segments", 0,
		fmt.Sprintf("how many segments of the tables are read at the same time (default %d)", ownSegments))
	flags.Float64Var(&o.rate, "rate", 0, "read and write units a second at most; 0: no limit")
	flags.IntVar(&o.memory, "memory", 64, "MB of sums that are held in memory")
	o.AgreeFlags(flags)
}

// AgreeFlags adds the flags of a command that asks before it begins, because of what it costs.
func (o *Options) AgreeFlags(flags *pflag.FlagSet) {
	flags.BoolVar(&o.dry, "dry-run", false, "only print what the command would read, and what that costs")
	flags.BoolVarP(&o.Yes, "yes", "y", false, "do not ask, however much it costs")
	flags.StringVar(&o.prices, "prices", "", cost.PricesUsage)
}

// PatienceFlag adds the flag of a command that waits for the stream.
func (o *Options) PatienceFlag(flags *pflag.FlagSet, usage string) {
	flags.DurationVar(&o.Patience, "patience", drained.Patience, usage+"; 0: ask once")
}

// WorkFlag adds the flag of a pass that can go on after a stop.
func (o *Options) WorkFlag(flags *pflag.FlagSet) {
	flags.StringVar(&o.Work, "work", "", "the folder for files, in which to go on after a stop: a path, or s3://BUCKET/PREFIX")
}

// LargeFlags adds the flags of a pass that a state machine may do.
func (o *Options) LargeFlags(flags *pflag.FlagSet) {
	flags.IntVar(&o.buckets, "buckets", 0,
		fmt.Sprintf("with --large, into how many hash buckets the keys are divided (default %d)", largeParts))
	flags.StringVar(&o.Large, "large", "", "let this state machine do the work: the output StateMachineArn of cmd/worker/template.yaml")
}

// Check says what is wrong with the options of a job, and divides the work.
func (o *Options) Check(job string) error {
	if o.Large != "" {
		o.segments, o.buckets = cmp.Or(o.segments, largeParts), cmp.Or(o.buckets, largeParts)
	}
	o.segments = cmp.Or(o.segments, ownSegments)
	switch {
	case o.segments < 1 || o.segments > mostSegments:
		return fmt.Errorf("--segments %d: give 1 to %d", o.segments, mostSegments)
	case !(o.rate >= 0):
		return fmt.Errorf("--rate %v: give read units a second, or 0 for no limit", o.rate)
	case o.memory < 1:
		return fmt.Errorf("--memory %d: give MB, at least 1", o.memory)
	case o.Patience < 0:
		return fmt.Errorf("--patience %s: give a time such as 15m", o.Patience)
	case o.Large == "":
		return nil
	case !strings.HasPrefix(o.Large, "arn:"):
		return fmt.Errorf("--large %q: write the ARN of the state machine, the output StateMachineArn of the worker's stack", o.Large)
	case !strings.HasPrefix(o.Work, "s3://"):
		return errors.New("the workers need a place for sums: write --work s3://BUCKET/PREFIX, with the output WorkBucketName of " +
			"their stack")
	case o.buckets < 1 || allParts(worker.Task{Job: job, Segments: o.segments, Buckets: o.buckets}) > mostParts:
		return fmt.Errorf("--segments %d and --buckets %d: give at most %d parts in all with --large, of which each segment is one "+
			"(with --twice two) and each bucket", o.segments, o.buckets, mostParts)
	}
	return nil
}

// Config returns how a pass reads the tables.
func (o *Options) Config(a *command.App, t *target.Target, about string) (sums.Config, error) {
	c := sums.Config{Env: a.Clock, Segments: o.segments, Buckets: o.buckets, Rate: o.rate, Memory: o.memory << 20}
	digest := sha256.Sum256([]byte(about))
	c.About = hex.EncodeToString(digest[:16]) // each task of a state machine has it
	if o.Work == "" {
		return c, nil
	}
	var err error
	if c.Work, err = work.Open(o.Work, func() work.Client { return t.S3() }); err != nil {
		err = cli.Usage(err)
	}
	return c, err
}

// sayTime says what the workers cost beside the read units.
func (o *Options) sayTime(a *command.App, prices *cost.Prices, units float64) {
	if o.Large == "" {
		return
	}
	seconds, price := units*4096/cost.WorkerSpeed, ""
	if dollars, known := prices.Dollars(cost.LambdaArm, seconds); known {
		price = fmt.Sprintf(", %.4f dollars", dollars)
	}
	a.Say("the workers run about %.1f hours in all%s, if each has 1 GB and reads %d MB a second; S3 and the steps of the state machine cost "+
		"little beside that", seconds/3600, price, cost.WorkerSpeed/1_000_000)
}

// AtLarge lets workers do the parts of a job that are not done yet. done says which are.
func (o *Options) AtLarge(ctx context.Context, a *command.App, t *target.Target, job, about string,
	done func(context.Context) (sums.Done, error)) error {
	if is, err := done(ctx); err != nil || is.Segments+is.Buckets == o.segments+o.buckets {
		return err
	}
	shown := a.Progress()
	defer shown(show.Step{})
	task := worker.Task{Job: job, Segments: o.segments, Buckets: o.buckets, Work: o.Work, About: about, Rate: o.rate / largeAtOnce}
	return runLarge(ctx, sfn.NewFromConfig(t.AWS), largeJob{machine: o.Large, atOnce: largeAtOnce, env: a.Clock, tell: a.Say, task: task,
		progress: func(ctx context.Context) error {
			is, err := done(ctx)
			parts := is.Segments + is.Buckets
			if job == worker.Look {
				parts += is.Stored
			}
			shown(show.Step{Phase: "parts", Done: parts, Total: allParts(task)})
			return err
		}})
}
