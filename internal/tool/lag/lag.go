// Package lag says how far the streams function has counted: an ingot dev is asked, and of a stack
// CloudWatch knows it. [Told] also tells a person what a command waits for.
package lag

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/internal/tool/dev"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/verify"
)

// Of returns a Lag that knows how far the streams function of a stack has got.
func Of(t *target.Target, p pause.Pauser) verify.Lag {
	switch {
	case t.Kind == target.KindLocal:
		return devLag{t.Endpoint}
	case t.StreamsFunction != "":
		return stackLag{p, t}
	}
	return noLag{}
}

// stackLag reads the ages that CloudWatch has of the streams function.
type stackLag struct {
	pause.Pauser
	target *target.Target
}

func (l stackLag) Counted(ctx context.Context) (time.Time, error) {
	at, err := l.Pauser.Counted(ctx, l.target.CloudWatch(), l.target.StreamsFunction)
	if err != nil && ctx.Err() == nil {
		err = errors.New(show.Error(err)) // its text is all that is printed
	}
	return at, err
}

// devLag asks the ingot dev at an address.
type devLag struct{ endpoint string }

func (l devLag) Counted(ctx context.Context) (time.Time, error) {
	asked := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.endpoint+dev.Counted, nil)
	if err != nil {
		return time.Time{}, err
	}
	out, err := http.DefaultClient.Do(r)
	if err != nil {
		return time.Time{}, fmt.Errorf("ingot dev does not answer: %w", err)
	}
	defer out.Body.Close()
	text, err := io.ReadAll(io.LimitReader(out.Body, 100))
	if err != nil {
		return time.Time{}, fmt.Errorf("ingot dev does not answer: %w", err)
	}
	age, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil {
		return time.Time{}, errors.New("this ingot dev is older than the tool; start it again")
	}
	return asked.Add(-age), nil
}

// tellEvery is the time between two lines that say what a command is waiting for.
const tellEvery = 30 * time.Second

// toldLag is a Lag that also prints what the command is waiting for, because the stream may stand
// still.
type toldLag struct {
	verify.Lag
	clock    env.Env
	says     io.Writer
	patience time.Duration
	began    time.Time // when it was asked first; it waits for everything that was written before
	last     time.Time // when it last printed a line
}

// Told returns a Lag that also prints how far the stream is, when it is asked first and then every
// half minute. patience is how long the command waits at most.
func Told(lag verify.Lag, patience time.Duration, clock env.Env, says io.Writer) verify.Lag {
	return &toldLag{Lag: lag, clock: clock.Real(), says: says, patience: patience}
}

func (l *toldLag) Counted(ctx context.Context) (time.Time, error) {
	now := l.clock.Now()
	first := l.began.IsZero()
	if first {
		l.began = now
	}
	counted, err := l.Lag.Counted(ctx)
	if err != nil || !counted.Before(l.began) || !first && now.Sub(l.last) < tellEvery {
		return counted, err
	}
	l.last = now
	// CloudWatch shows ages some minutes late. So a stream that is not behind has proven nothing of
	// these minutes either.
	proven := counted.UTC().Format(time.TimeOnly)
	if first {
		fmt.Fprintf(l.says,
			"ingot: waiting up to %s for the proof that the stream has counted everything that was written before %s; so far it is proven for what was written before %s\n",
			l.patience, l.began.UTC().Format(time.TimeOnly), proven)
	} else {
		fmt.Fprintf(l.says,
			"ingot: it is proven for what was written before %s; waiting for %s more at most (ingot status shows whether the stream stands still)\n",
			proven, max(l.patience-now.Sub(l.began), 0).Round(time.Second))
	}
	return counted, nil
}

// noLag is the Lag of a stack if only its tables are known.
type noLag struct{}

func (noLag) Counted(context.Context) (time.Time, error) {
	return time.Time{},
		errors.New("only the tables are known, and not the streams function: name the stack with --stack, or set INGOT_STREAMS_FUNCTION")
}
