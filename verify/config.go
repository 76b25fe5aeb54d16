package verify

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// Config says what to verify, and how fast. Only Pipeline and Source must be set.
type Config struct {
	sums.Config
	Pipeline *pipeline.Pipeline
	Source   Source
	// Looks says that this is a look of [TwiceBy]: all totals must be read before the first item.
	Looks bool

	// pick is called for each total that differs or has a flag. It may be nil.
	pick func(key string, t total, head *tables.Head)
}

// pass is one call of [Run], [Segment], [Merge] or [Collect]. It is the job of its sums.
type pass struct {
	Config
	all   *sums.Pass[seen, found]
	heads map[*aggregate.Definition]*tables.Head
	ops   map[*aggregate.Definition][]aggregate.Op // see opsOf
}

func newPass(c Config) (*pass, error) {
	if c.Pipeline == nil || c.Source == nil {
		return nil, errors.New("verify: Config.Pipeline and Config.Source must both be set")
	}
	c.Env = c.Env.Real()
	p := &pass{Config: c, ops: map[*aggregate.Definition][]aggregate.Op{}}
	for _, def := range c.Pipeline.Definitions() {
		p.ops[def] = opsOf(def)
	}
	p.all = sums.New(c.Config, jobOf(c), p)
	return p, nil
}

// jobOf identifies what is verified.
func jobOf(c Config) sums.ID {
	h := sha256.New()
	fmt.Fprintln(h, "ingot verify")
	if c.Looks { // without it, segments may be read in any order
		fmt.Fprintln(h, "looks")
	}
	for _, def := range c.Pipeline.Definitions() {
		fmt.Fprintf(h, "%q %d %q %q\n", def.Name, def.Since, def.KeyCheck, def.Text)
	}
	return sums.ID(h.Sum(nil))
}
