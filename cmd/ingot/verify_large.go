package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/tool/large"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/verify"
	"github.com/ingot-events/ingot/worker"
)

const (
	// largeParts is how many segments and buckets there are, if nobody says it.
	largeParts = 64
	// largeAtOnce is how many workers run at a time.
	largeAtOnce = 40
)

// checkLarge says what is wrong with the options of --large, and divides the work.
func (o *verifyOptions) checkLarge(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("segments") {
		o.segments = largeParts
	}
	o.buckets = cmp.Or(o.buckets, largeParts)
	switch {
	case !strings.HasPrefix(o.large, "arn:"):
		return fmt.Errorf("--large %q: write the ARN of the state machine, the output StateMachineArn of the worker's stack", o.large)
	case !strings.HasPrefix(o.work, "s3://"):
		return errors.New("the workers need a place for sums: write --work s3://BUCKET/PREFIX, with the output WorkBucketName of " +
			"their stack")
	case o.twice:
		return errors.New("--twice needs all totals before the first item, and workers read them in any order: leave one of the two out")
	case o.buckets < 1 || o.segments+o.buckets > large.MostParts:
		return fmt.Errorf("--segments %d and --buckets %d: give at most %d parts in all with --large", o.segments, o.buckets,
			large.MostParts)
	}
	return nil
}

// passAtLarge lets workers do the work, and puts their results together.
func (a *app) passAtLarge(ctx context.Context, v verifying, c verify.Config, o verifyOptions) (*verify.Report, *verify.Looks, error) {
	progress := a.Progress()
	defer progress(show.Step{})
	err := large.Run(ctx, sfn.NewFromConfig(v.target.AWS), large.Job{Machine: o.large, AtOnce: largeAtOnce, Env: a.Clock, Tell: a.Say,
		Task: worker.Task{Segments: o.segments, Buckets: o.buckets, Work: o.work, About: c.About, Rate: o.rate / largeAtOnce},
		Progress: func(ctx context.Context) error {
			done, err := verify.Done(ctx, c)
			progress(show.Step{Phase: "segments and merges", Done: done.Segments + done.Buckets, Total: o.segments + o.buckets})
			return err
		}})
	if err != nil {
		return nil, nil, err
	}
	r, err := verify.Collect(ctx, c)
	if err == nil {
		err = verify.Clear(ctx, c)
	}
	return r, nil, err
}
