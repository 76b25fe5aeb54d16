package pass

import (
	"context"
	"fmt"
	"runtime/debug"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/verify/sums"
)

// ask is the number of units above which the user has to agree.
const ask = 1_000_000

// Begin says what a pass takes, and reports whether it may begin. It asks the user if the pass
// takes many units. With --dry-run, no pass begins. changes is the stack that the pass is about to
// change; nil: it changes none.
func (o *Options) Begin(a *command.App, what string, p Price, changes *target.Target) (begin bool, err error) {
	prices, err := cost.PricesOf(o.prices)
	if err != nil {
		return false, cli.Usage(err)
	}
	p.by(prices)
	a.Say("%s %s", what, p)
	o.sayTime(a, prices, p.Reads)
	switch {
	case o.dry && a.JSON():
		return false, a.WriteJSON(p)
	case o.dry:
		return false, nil
	case changes != nil:
		if err := a.Announce(changes); err != nil {
			return false, err
		}
	}
	err = o.agreed(a, p)
	return err == nil, err
}

// agreed asks the user if a pass takes many units.
func (o *Options) agreed(a *command.App, p Price) error {
	if o.Yes || p.Reads+p.Writes <= ask {
		return nil
	}
	if !a.Typed {
		return cli.Refusedf("this takes more than %s units: write --yes to confirm that, or look at --dry-run and --rate first",
			show.Comma(ask))
	}
	fmt.Fprint(a.Stderr, "ingot: go on? [y/N] ")
	answer := make([]byte, 1)
	if _, err := a.Stdin.Read(answer); err != nil || answer[0] != 'y' && answer[0] != 'Y' {
		return cli.Refusedf("nothing was read")
	}
	return nil
}

// besides is roughly the memory that a pass needs besides its sums: pages that are read and
// written.
const besides = 128 << 20

// Part is a part of a pass that is shown as a whole.
type Part struct {
	Name string // such as reading
	Of   int    // how many items it reads
	Lost string // what is lost without --work if it is stopped
}

// Run runs a part of a pass that reads as c says. It shows how far the part is, and if it is
// stopped, how to go on. Meanwhile, the memory of the process is limited: otherwise garbage would
// take as much of it as the sums.
func (o *Options) Run(ctx context.Context, a *command.App, c *sums.Config, p Part, run func() error) error {
	before := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(before, int64(o.memory)<<20+besides))
	defer debug.SetMemoryLimit(before)
	progress := a.Progress()
	c.Progress = func(is sums.Progress) {
		progress(show.Step{Phase: p.Name, Done: min(is.Wanted+is.Stored, p.Of), Total: p.Of})
	}
	err := run()
	progress(show.Step{})
	switch {
	case err == nil || ctx.Err() == nil:
	case o.Work != "":
		a.Say("what was done is in %s; the same command goes on there", o.Work)
	default:
		a.Say("the same command begins again: %s; with --work DIR, it can be stopped and goes on", p.Lost)
	}
	return err
}
