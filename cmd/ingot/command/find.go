package command

import (
	"context"
	"errors"
	"os/user"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// Named reports whether the flags name a stack.
func (a *App) Named() bool { return a.Flags.Stack != "" || a.Flags.ConfigEnv != "" || a.Flags.Local }

// Find returns the stack that the flags mean. Its connections end with [App.Close].
func (a *App) Find(ctx context.Context) (*target.Target, error) { return a.find(ctx, target.Find) }

// Place returns where the stack that the flags mean is or will be: see [target.Place].
func (a *App) Place(ctx context.Context) (*target.Target, error) { return a.find(ctx, target.Place) }

func (a *App) find(ctx context.Context, find func(context.Context, target.Options) (*target.Target, error)) (*target.Target, error) {
	a.Flags.Env = a.Env
	t, err := find(ctx, a.Flags)
	if t != nil {
		a.found = append(a.found, t)
		if t.Note != "" && err == nil {
			a.Say("%s", t.Note)
		}
	}
	var wrong *target.UsageError
	if errors.As(err, &wrong) {
		return nil, cli.Usage(err)
	}
	return t, err
}

// Close ends the connections of what was found.
func (a *App) Close() {
	for _, t := range a.found {
		t.Close()
	}
}

// Announce says what a command is about to change. It refuses to change a protected stack that
// nobody has named. Every command that writes calls it first.
func (a *App) Announce(t *target.Target) error {
	if t.Protected && !t.Named {
		return cli.Refusedf("%s is protected from deletion, and only the default of samconfig.toml names it; add --stack %s",
			t, t.Name)
	}
	a.Say("this changes %s", t)
	return nil
}

// Store returns a store over the tables and the payload bucket of a stack.
func (a *App) Store(t *target.Target, p *pipeline.Pipeline) (*store.Store, error) {
	return store.New(tables.Config{Client: t.DynamoDB(), Pipeline: p, Events: t.EventsTable, Aggregates: t.AggregatesTable,
		Objects: t.S3(), PayloadBucket: t.PayloadBucket, Env: a.Clock})
}

// NeedsPayloads returns an error if a pipeline offloads payloads and the stack has no output that
// names the bucket.
func NeedsPayloads(t *target.Target, p *pipeline.Pipeline) error {
	if !p.UsesOffload() {
		return nil
	}
	return t.Needs(target.Payloads)
}

// Again returns the flags with which another command reaches the same stack.
func (a *App) Again(t *target.Target) (words []string) {
	switch t.Kind {
	case target.KindStack:
		words = append(words, "--stack", show.Quoted(t.Name))
	case target.KindLocal:
		words = append(words, "--local")
	}
	for _, f := range [][2]string{{"--profile", a.Flags.Profile}, {"--region", a.Flags.Region}, {"--endpoint-url", a.Flags.EndpointURL}} {
		if f[1] != "" {
			words = append(words, f[0], show.Quoted(f[1]))
		}
	}
	return words
}

// Caller says who runs the tool: the identity of the credentials, or else the user of this machine.
func Caller(ctx context.Context, t *target.Target) string {
	if t.Kind != target.KindLocal {
		out, err := sts.NewFromConfig(t.AWS).GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{}, func(o *sts.Options) {
			o.RetryMaxAttempts = 1
		})
		if err == nil && aws.ToString(out.Arn) != "" {
			return *out.Arn
		}
	}
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return "somebody"
}
