// Package sums adds up what two tables say of many keys, and compares both sides of each key. It
// does so in little memory, however many keys there are: what does not fit goes into files, one for
// each hash bucket of keys, and the buckets are compared one by one. Package verify compares totals
// with items this way, and package migrate copies with rows.
//
// A [Pass] reads both tables in segments. [Pass.Run] does everything in one process.
// [Pass.Segment], [Pass.Merge] and [Pass.Collect] are its units of work, for tables that outgrow
// one machine: all segments are read first, on any machines and in any order, and then all buckets
// are merged. A unit may be done twice, at the same time too, and counts once.
package sums

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/tables"
)

// Config says how a pass reads its tables. The zero value is right for a small table.
type Config struct {
	// Segments is how many segments both tables are divided into. [Pass.Run] reads all of them side
	// by side. 0 means 1.
	Segments int
	// Buckets is the number of parts that the keys are divided into, by a hash. Each is added up on
	// its own. 0 means 16.
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
	// Env has the clock. The zero value is the real world.
	Env env.Env
}

// Progress says how far a pass is.
type Progress struct {
	Wanted int     // items of the table that says what should be, read so far
	Stored int     // items of the table that is compared with it
	Units  float64 // read units spent by this call
}

const (
	defaultMemory  = 64 << 20
	defaultBuckets = 16
)

func (c Config) withDefaults() Config {
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
	return c
}

// ID identifies what is added up: sums of another job must not be added. A work folder of another
// job is refused, and so is one of other tables or other numbers of segments and buckets.
type ID [sha256.Size]byte

// Pace reads segments side by side, and keeps to the rate. It is all that a pass over a table needs
// if it adds up nothing.
type Pace struct {
	Config

	mu       sync.Mutex
	progress Progress
	free     time.Time // when the next page may be asked for
	failed   bool      // a segment has failed; the others stop
}

// NewPace returns a Pace with the defaults of what c leaves out.
func NewPace(c Config) *Pace { return &Pace{Config: c.withDefaults()} }

// ErrStopped ends a segment because another one has failed.
var ErrStopped = errors.New("another segment has failed")

// Spent notes how many items of each table a page had and what it cost, and waits until the next
// page may be read. It returns [ErrStopped] if another segment has failed.
func (p *Pace) Spent(ctx context.Context, wanted, stored int, units float64) error {
	p.mu.Lock()
	if p.failed {
		p.mu.Unlock()
		return ErrStopped
	}
	p.progress.Wanted += wanted
	p.progress.Stored += stored
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

// Units returns the read units that were spent.
func (p *Pace) Units() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.progress.Units
}

// SideBySide calls do for all segments at once. After an error, the others stop at their next page.
func (p *Pace) SideBySide(do func(segment int) error) error {
	errs := make([]error, p.Segments)
	p.Env.Each(p.Segments, p.Segments, func(i int) {
		if errs[i] = do(i); errs[i] != nil {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.failed = true
		}
	})
	for _, err := range errs { // one reason is enough: the others often have the same one
		if err != nil && !errors.Is(err, ErrStopped) {
			return err
		}
	}
	return nil
}

// From returns the rest of a segment, after a position.
func (p *Pace) From(segment int, at Position) tables.Segment {
	left := tables.Segment{After: at.after()}
	if p.Segments > 1 {
		left.Number, left.Of = segment, p.Segments
	}
	return left
}

// numbered says that there is no such unit of work.
func numbered(what string, n, of int) error {
	if n >= 0 && n < of {
		return nil
	}
	return fmt.Errorf("there is no %s %d of %d; the first is 0 and the last is %d", what, n, of, of-1)
}
