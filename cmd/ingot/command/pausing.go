package command

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ingot-events/ingot/internal/tool/lag"
	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/verify"
)

// FunctionName returns the name of the function to pause or resume.
func FunctionName(t *target.Target, streams bool) (string, error) {
	if t.Kind == target.KindLocal {
		t.IngestFunction, t.StreamsFunction = target.DevIngest, target.DevStreams
	}
	if err := t.Needs(target.IngestFunction, target.StreamsFunction); err != nil {
		return "", err
	}
	if streams {
		return t.StreamsFunction, nil
	}
	return t.IngestFunction, nil
}

// Pauser returns what pauses and resumes the functions of a stack, and says what it waits for.
func (a *App) Pauser(t *target.Target) pause.Pauser {
	p := pause.Pauser{Client: t.Lambda(), Env: a.Clock, Tell: func(format string, args ...any) {
		for i, arg := range args {
			if err, is := arg.(error); is {
				args[i] = show.Error(err)
			}
		}
		a.Say(format, args...)
	}}
	if t.Kind == target.KindLocal {
		p.Settle = time.Second // a batch of ingot dev takes less
	}
	return p
}

// ResumeLine returns the command that resumes what a command line pauses.
func (a *App) ResumeLine(t *target.Target, streams bool) string {
	words := []string{"ingot", "resume"}
	if streams {
		words = append(words, "streams")
	}
	return strings.Join(append(words, a.Again(t)...), " ")
}

// SayPaused says it if nothing calls the ingest function, and also if that is not known. A stack
// whose function has no known name is not asked.
func (a *App) SayPaused(cmd *cobra.Command, t *target.Target) (paused bool, unknown error) {
	function, err := FunctionName(t, false)
	if err != nil {
		return false, nil
	}
	list, err := pause.Read(cmd.Context(), t.Lambda(), function)
	if err != nil {
		a.Say("it is not known whether the ingest function is paused: %s", show.Error(err))
	}
	for _, m := range list {
		if m.Off() {
			a.Say("the ingest function is paused%s: the events wait in the queue. To resume: %s",
				show.Text(m.Who()), a.ResumeLine(t, false))
			return true, nil
		}
	}
	return false, err
}

// Lag returns a Lag that knows how far the streams function of a stack has got, and says what it
// waits for.
func (a *App) Lag(t *target.Target, patience time.Duration) verify.Lag {
	return lag.Of(t, a.Pauser(t), patience)
}
