package verify

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/pipeline"
)

// Config says what to verify, and how fast. Only Pipeline and Source must be set.
type Config struct {
	Pipeline *pipeline.Pipeline
	Source   Source
	// Segments is how many segments both tables are divided into. [Run] reads all of them side by
	// side. 0 means 1.
	Segments int
	// Buckets is the number of parts that the totals are divided into, by a hash of their keys.
	// Each is added up on its own. 0 means 16.
	Buckets int
	// Rate is the largest number of read units to spend in a second, on average. 0 means no limit.
	Rate float64
	// Memory is roughly how many bytes of sums are held in memory. If there are more, they go to
	// files. 0 means 64 MB.
	Memory int
	// Work keeps the files and the checkpoints. From a checkpoint, another call continues after
	// this one has stopped. Nil means no checkpoints, and a temporary folder for files if there are
	// any.
	Work Folder
	// Every is the time between two checkpoints. 0 means a minute.
	Every time.Duration
	// About names the tables. A work folder of a pass over other tables is refused.
	About string
	// Progress is called after each page. It may be nil.
	Progress func(Progress)
	// Env has the clock, which decides which totals are past their expiry. The zero value is the
	// real world.
	Env env.Env

	looks bool // one of [Twice], which must have read all totals before the first item
	// pick is called for each total that differs or has a flag. It may be nil.
	pick func(key string, t total, unclosed bool)
}

// Progress says how far a pass is.
type Progress struct {
	Items  int     // of the events table, read so far
	Stored int     // items of totals, read so far
	Units  float64 // read units spent by this call
}

const (
	defaultMemory  = 64 << 20
	defaultBuckets = 16
)

// pass is one call of [Run], [Segment], [Merge] or [Collect].
type pass struct {
	Config
	job      [sha256.Size]byte
	folder   Folder  // where sums go; nil as long as all of them are in memory
	scratch  scratch // the folder to remove at the end, if there is one
	unclosed map[*aggregate.Definition]bool

	mu       sync.Mutex
	progress Progress
	free     time.Time // when the next page may be asked for
	failed   bool      // a segment has failed; the others stop
}

func newPass(c Config) (*pass, error) {
	if c.Pipeline == nil || c.Source == nil {
		return nil, errors.New("verify: Config.Pipeline and Config.Source must both be set")
	}
	c.Segments = max(c.Segments, 1)
	if c.Buckets <= 0 {
		c.Buckets = defaultBuckets
	}
	if c.Memory <= 0 {
		c.Memory = defaultMemory
	}
	if c.Every <= 0 {
		c.Every = time.Minute
	}
	c.Env = c.Env.Real()
	p := &pass{Config: c, folder: c.Work, job: jobOf(c)}
	return p, nil
}

// jobOf identifies what is verified, and how it is divided: sums of another job must not be added.
func jobOf(c Config) [sha256.Size]byte {
	h := sha256.New()
	fmt.Fprintf(h, "ingot verify %s\n%q\n%d %d\n", versions["sums"], c.About, c.Segments, c.Buckets)
	if c.looks { // the segments of [Segment] are read in any order
		fmt.Fprintln(h, "looks")
	}
	for _, def := range c.Pipeline.Definitions() {
		fmt.Fprintf(h, "%q %d %q %q\n", def.Name, def.Since, def.KeyCheck, def.Text)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// files returns the folder for sums.
func (p *pass) files() (Folder, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.folder == nil {
		dir, err := newScratch()
		if err != nil {
			return nil, err
		}
		p.scratch, p.folder = dir, dir
	}
	return p.folder, nil
}

// spent notes the contents and the cost of a page, and waits until the next page may be read.
func (p *pass) spent(ctx context.Context, items, buckets int, units float64) error {
	p.mu.Lock()
	p.progress.Items += items
	p.progress.Stored += buckets
	p.progress.Units += units
	now, progress := p.Env.Now(), p.progress
	if p.Rate > 0 {
		if p.free.Before(now) {
			p.free = now
		}
		p.free = p.free.Add(time.Duration(units / p.Rate * float64(time.Second)))
	}
	wait := p.free.Sub(now)
	if p.Progress != nil {
		p.Progress(progress)
	}
	p.mu.Unlock()
	if wait > 0 {
		return p.Env.Sleep(ctx, wait)
	}
	return nil
}

// stop tells the other segments that one has failed.
func (p *pass) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = true
}

func (p *pass) stopped() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}
