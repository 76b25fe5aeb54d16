package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/tool/changes"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/store/query"
	"github.com/ingot-events/ingot/tables"
)

// Use says what a command does with the pipeline of a stack.
type Use struct {
	// Hashes means that it makes hashes, so that the secret is needed. Otherwise the pipeline is
	// compiled without one.
	Hashes bool
	// Writes means that it changes the stack. Then a file is refused if it would store or count
	// differently from the deployed one.
	Writes bool
	// Wakes means that it may wake the streams function, which stores the deployed file when it
	// starts. Only a command that may change totals by itself may do so: anyone who may invoke the
	// function may also give it changes that never happened.
	Wakes bool
}

// Reach returns the stack that the flags mean, and its pipeline as [App.Deployed] does.
func (a *App) Reach(ctx context.Context, use Use) (*target.Target, *pipeline.Pipeline, error) {
	t, err := a.Find(ctx)
	if err != nil {
		return nil, nil, err
	}
	p, err := a.Deployed(ctx, t, use)
	return t, p, err
}

// Deployed returns the pipeline of a stack: the deployed one, or the file that --pipeline names.
func (a *App) Deployed(ctx context.Context, t *target.Target, use Use) (*pipeline.Pipeline, error) {
	file, p, err := a.File(ctx, t, use)
	if err != nil || !use.Hashes {
		return p, err
	}
	return a.Hashing(ctx, t, file, p)
}

// File is [App.Deployed] for a command that does not know yet whether it makes hashes.
// [App.Hashing] compiles the file that it returns once more. t may be nil if the flags name a
// file.
func (a *App) File(ctx context.Context, t *target.Target, use Use) (file textfile.File, p *pipeline.Pipeline, err error) {
	name := a.Pipeline
	if name != "" {
		file, p, err = LoadFile(name, "name the pipeline with --pipeline FILE", pipeline.CheckOnly())
		if err != nil || !use.Writes {
			return file, p, err
		}
	}
	f, err := DeployedFile(ctx, t)
	if errors.Is(err, ErrNoFile) && use.wakes(t) {
		if err = t.Wake(ctx); err == nil {
			f, err = DeployedFile(ctx, t)
		}
	}
	switch {
	case errors.Is(err, ErrNoFile) && name != "":
		a.Say("%s cannot be compared with what is deployed: %v", name, err)
		return file, p, nil
	case errors.Is(err, ErrNoFile):
		return file, nil, fmt.Errorf("name the deployed file with --pipeline FILE: %w", err)
	case err != nil:
		return file, nil, err
	case name != "":
		return file, p, a.same(ctx, t, use, f, p)
	}
	return loadDeployed(f)
}

// LoadFile reads a pipeline.yaml and compiles it. next says what to do if it cannot be read.
func LoadFile(name, next string, options ...pipeline.Option) (file textfile.File, p *pipeline.Pipeline, err error) {
	file.Name = name
	if file.Text, err = cli.ReadFile(name, next); err != nil {
		return file, nil, cli.Usage(err)
	}
	if p, err = file.Load(options...); err != nil {
		return file, nil, cli.Usagef("the pipeline has mistakes:\n%w", err)
	}
	return file, p, nil
}

func loadDeployed(f *tables.File) (textfile.File, *pipeline.Pipeline, error) {
	file := textfile.File{Name: "the deployed pipeline.yaml", Text: f.Text}
	p, err := file.Load(pipeline.CheckOnly())
	if err != nil {
		err = fmt.Errorf("this version of ingot cannot read the deployed pipeline.yaml; use the version that deployed it, or newer:\n%w",
			err)
	}
	return file, p, err
}

// Hashing returns the pipeline of a file with the secret of its stack, if it makes hashes. t is nil
// if no stack is asked.
func (a *App) Hashing(ctx context.Context, t *target.Target, file textfile.File, p *pipeline.Pipeline) (*pipeline.Pipeline, error) {
	if !p.UsesHMAC() {
		return p, nil
	}
	if t == nil {
		secret, _ := a.Env("INGOT_PII_KEY")
		return file.Load(pipeline.Secret([]byte(secret)))
	}
	secret, err := t.Secret(ctx)
	if err != nil {
		return nil, err
	}
	if secret == nil && t.Kind == target.KindLocal {
		secret = []byte(show.StandIn) // ingot dev does the same
	}
	if p, err = file.Load(pipeline.Secret(secret)); err != nil {
		return nil, err
	}
	st, err := a.Store(t, p)
	if err == nil && errors.Is(query.Of(st).SameSecret(ctx), tables.ErrOtherSecret) {
		a.Say("the tables of %s were filled with another INGOT_PII_KEY: "+
			"under this one, no event is found whose key is hashed", t)
	}
	return p, err
}

// wakes reports whether the command may wake the streams function of t.
func (u Use) wakes(t *target.Target) bool {
	return u.Wakes && t.Kind != target.KindLocal && t.StreamsFunction != ""
}

// same refuses a local file that would store or count differently from the deployed one. If they
// differ, a command that may do so wakes the function once, because it may not have started since
// it was deployed.
func (a *App) same(ctx context.Context, t *target.Target, use Use, f *tables.File, local *pipeline.Pipeline) error {
	different, err := differ(f, local)
	if err != nil || len(different) == 0 {
		return err
	}
	if use.wakes(t) {
		if err := t.Wake(ctx); err != nil {
			return err
		}
		if f, err = DeployedFile(ctx, t); err != nil {
			return err
		}
		if different, err = differ(f, local); err != nil || len(different) == 0 {
			return err
		}
	}
	return cli.Refusedf("%s differs from the pipeline.yaml that is deployed, in %s: deploy it first, or leave out --pipeline; "+
		"if it is deployed already, %s", a.Pipeline, strings.Join(different, ", "), t.Stores())
}

// differ lists the differences from the deployed file that change what is stored or counted.
func differ(f *tables.File, is *pipeline.Pipeline) ([]string, error) {
	_, was, err := loadDeployed(f)
	if err != nil {
		return nil, err
	}
	var list []string
	for _, r := range changes.Between(was, is, time.Now()) {
		if r.Kind == changes.Schema {
			continue // it says nothing about what is stored
		}
		what := r.Subject
		if r.Member != "" {
			what += "." + r.Member
		}
		list = append(list, what)
	}
	return list, nil
}
