// Package pass drives a pass over two tables: its flags ([Divided]), what it costs ([Price]), and the
// workers that may do its parts ([Divided.AtLarge]).
package pass

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/spf13/pflag"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/verify/sums"
	"github.com/ingot-events/ingot/verify/work"
	"github.com/ingot-events/ingot/worker"
)

// Divided says how a pass over two tables is divided, and who does the parts.
type Divided struct {
	Segments, Buckets, Memory int
	Rate                      float64
	Work                      string
	Large                     string // ARN of the state machine; empty: this machine does the work
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
func (d *Divided) PassFlags(flags *pflag.FlagSet) {
	flags.IntVar(&d.Segments, "segments", 0,
		fmt.Sprintf("how many segments of the tables are read at the same time (default %d)", ownSegments))
	flags.Float64Var(&d.Rate, "rate", 0, "read and write units a second at most; 0: no limit")
	flags.IntVar(&d.Memory, "memory", 64, "MB of sums that are held in memory")
}

// WorkFlag adds the flag of a pass that can go on after a stop.
func (d *Divided) WorkFlag(flags *pflag.FlagSet) {
	flags.StringVar(&d.Work, "work", "", "the folder for files, in which to go on after a stop: a path, or s3://BUCKET/PREFIX")
}

// LargeFlags adds the flags of a pass that a state machine may do.
func (d *Divided) LargeFlags(flags *pflag.FlagSet) {
	flags.IntVar(&d.Buckets, "buckets", 0,
		fmt.Sprintf("with --large, into how many hash buckets the keys are divided (default %d)", largeParts))
	flags.StringVar(&d.Large, "large", "", "let this state machine do the work: the output StateMachineArn of cmd/worker/template.yaml")
}

// Check says what is wrong with the options of a job, and divides the work.
func (d *Divided) Check(job string) error {
	if d.Large != "" {
		d.Segments, d.Buckets = cmp.Or(d.Segments, largeParts), cmp.Or(d.Buckets, largeParts)
	}
	d.Segments = cmp.Or(d.Segments, ownSegments)
	switch {
	case d.Segments < 1 || d.Segments > mostSegments:
		return fmt.Errorf("--segments %d: give 1 to %d", d.Segments, mostSegments)
	case !(d.Rate >= 0):
		return fmt.Errorf("--rate %v: give read units a second, or 0 for no limit", d.Rate)
	case d.Memory < 1:
		return fmt.Errorf("--memory %d: give MB, at least 1", d.Memory)
	case d.Large == "":
		return nil
	case !strings.HasPrefix(d.Large, "arn:"):
		return fmt.Errorf("--large %q: write the ARN of the state machine, the output StateMachineArn of the worker's stack", d.Large)
	case !strings.HasPrefix(d.Work, "s3://"):
		return errors.New("the workers need a place for sums: write --work s3://BUCKET/PREFIX, with the output WorkBucketName of " +
			"their stack")
	case d.Buckets < 1 || Parts(worker.Task{Job: job, Segments: d.Segments, Buckets: d.Buckets}) > MostParts:
		return fmt.Errorf("--segments %d and --buckets %d: give at most %d parts in all with --large, of which each segment is one "+
			"(with --twice two) and each bucket", d.Segments, d.Buckets, MostParts)
	}
	return nil
}

// Config returns how a pass reads the tables.
func (d *Divided) Config(a *command.App, t *target.Target, about string) (sums.Config, error) {
	c := sums.Config{Env: a.Clock, Segments: d.Segments, Buckets: d.Buckets, Rate: d.Rate, Memory: d.Memory << 20}
	digest := sha256.Sum256([]byte(about))
	c.About = hex.EncodeToString(digest[:16]) // each task of a state machine has it
	if d.Work == "" {
		return c, nil
	}
	var err error
	c.Work, err = work.Open(d.Work, func() work.Client { return t.S3() })
	return c, err
}

// workerSpeed is how many bytes of a table a worker of 1 GB is supposed to read in a second.
const workerSpeed = 10_000_000

// SayTime says what the workers cost beside the read units.
func (d *Divided) SayTime(a *command.App, prices *cost.Prices, units float64) {
	if d.Large == "" {
		return
	}
	seconds, price := units*4096/workerSpeed, ""
	if dollars, known := prices.Dollars(cost.LambdaArm, seconds); known {
		price = fmt.Sprintf(", %.4f dollars", dollars)
	}
	a.Say("the workers run about %.1f hours in all%s, if each has 1 GB and reads %d MB a second; S3 and the steps of the state machine cost "+
		"little beside that", seconds/3600, price, workerSpeed/1_000_000)
}

// AtLarge lets workers do the parts of a job that are not done yet. done says which are.
func (d *Divided) AtLarge(ctx context.Context, a *command.App, t *target.Target, job, about string,
	done func(context.Context) (sums.Done, error)) error {
	if is, err := done(ctx); err != nil || is.Segments+is.Buckets == d.Segments+d.Buckets {
		return err
	}
	progress := a.Progress()
	defer progress(show.Step{})
	task := worker.Task{Job: job, Segments: d.Segments, Buckets: d.Buckets, Work: d.Work, About: about, Rate: d.Rate / largeAtOnce}
	return Run(ctx, sfn.NewFromConfig(t.AWS), Job{Machine: d.Large, AtOnce: largeAtOnce, Env: a.Clock, Tell: a.Say, Task: task,
		Progress: func(ctx context.Context) error {
			is, err := done(ctx)
			parts := is.Segments + is.Buckets
			if job == worker.Look {
				parts += is.Stored
			}
			progress(show.Step{Phase: "parts", Done: parts, Total: Parts(task)})
			return err
		}})
}
