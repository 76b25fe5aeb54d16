package command

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// Follow returns a function that returns the deployed pipeline, at most a minute old. If a newer
// file cannot be read, it keeps the pipeline that it has, and says why. With --pipeline, it always
// returns the named file.
func (a *App) Follow(ctx context.Context, t *target.Target) (func() *pipeline.Pipeline, error) {
	file, p, err := a.File(ctx, t, Use{})
	if err == nil {
		p, err = a.Hashing(ctx, t, file, p)
	}
	if err != nil || a.Pipeline != "" {
		return func() *pipeline.Pipeline { return p }, err
	}
	var mu sync.Mutex
	clock := a.Clock.Real()
	looked, trouble := clock.Now(), ""
	newer := func() (textfile.File, *pipeline.Pipeline, error) {
		ctx, cancel := context.WithTimeout(ctx, followFor)
		defer cancel()
		f, err := DeployedFile(ctx, t)
		if err != nil || bytes.Equal(f.Text, file.Text) {
			return file, p, err
		}
		other := textfile.File{Name: file.Name, Text: f.Text}
		is, err := other.Load(pipeline.CheckOnly())
		if err == nil {
			is, err = a.Hashing(ctx, t, other, is)
		}
		return other, is, err
	}
	return func() *pipeline.Pipeline {
		mu.Lock()
		defer mu.Unlock()
		if clock.Now().Sub(looked) < followEvery {
			return p
		}
		looked = clock.Now()
		f, is, err := newer()
		switch {
		case err != nil:
			if text := show.Error(err); text != trouble && ctx.Err() == nil {
				trouble = text
				a.Say("the console goes on with the pipeline.yaml that it has, because the deployed one cannot be read: %s", text)
			}
		case !bytes.Equal(f.Text, file.Text):
			file, p, trouble = f, is, ""
			a.Say("another pipeline.yaml is deployed; the console goes on with it, at epoch %d", p.Epoch())
		}
		return p
	}, nil
}

// followEvery is how often the console checks whether another pipeline.yaml is deployed. followFor
// is how long it waits for the answer.
const (
	followEvery = time.Minute
	followFor   = 5 * time.Second
)
