package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

const (
	file    = "ingot.db"
	pidFile = "pid"
	// form is the version of what is stored. A program refuses every other one.
	form = "1"
	// lockTime is how long to wait for the process that has the folder.
	lockTime = 500 * time.Millisecond
	// againAfter is how long after a failure the disk is tried again.
	againAfter = time.Second
)

var (
	about   = []byte("ingot") // the bucket that says what the file is
	formKey = []byte("form")
)

// Disk is an open folder. It is an [embedded.Journal].
type Disk struct {
	dir  string
	db   *bbolt.DB
	save func(*batch) error // writes a batch; a test may replace it

	mu         sync.Mutex
	changed    *sync.Cond // there is something to write, or the end
	settled    *sync.Cond // something was written, or could not be
	next       *batch
	kept, safe uint64 // how many times Keep was called, and how many of these are written
	err        error  // why the last batch could not be written
	closed     bool
	ended      chan struct{}
}

// Open opens a folder, and makes it if need be. No other process can open it until Close.
func Open(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the data folder %s cannot be made: %w; name another with --data", dir, cause(err))
	}
	name := filepath.Join(dir, file)
	db, err := bbolt.Open(name, 0o600, options())
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, fmt.Errorf("another ingot dev%s runs with the data in %s: end that one, or name another folder with --data",
			processOf(dir), dir)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, bolterrors.ErrChecksum):
		return nil, fmt.Errorf("%s is not data of ingot dev (%w): name another folder with --data", name, err)
	case err != nil:
		return nil, fmt.Errorf("the data in %s cannot be opened: %w; name another folder with --data", dir, cause(err))
	}
	if err := db.Update(identify); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w; name another folder with --data", name, cause(err)), db.Close())
	}
	if err := os.WriteFile(filepath.Join(dir, pidFile), []byte(strconv.Itoa(os.Getpid())), 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("the data folder %s cannot be written to: %w; name another with --data", dir, cause(err)),
			db.Close())
	}
	d := &Disk{dir: dir, db: db, next: newBatch(), ended: make(chan struct{})}
	d.save = d.write
	d.changed, d.settled = sync.NewCond(&d.mu), sync.NewCond(&d.mu)
	go d.run()
	return d, nil
}

// options are those of bbolt. Without NoSync, each transaction would wait for the device. What is
// written outlives the process all the same: it is in the memory of the system, and bbolt never
// overwrites what the last complete transaction needs.
func options() *bbolt.Options {
	return &bbolt.Options{Timeout: lockTime, NoSync: true, NoGrowSync: true, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType}
}

// identify says in a new file what it is, and refuses a file that is something else.
func identify(tx *bbolt.Tx) error {
	if b := tx.Bucket(about); b != nil {
		if found := string(b.Get(formKey)); found != form {
			return fmt.Errorf("it was written by another version of ingot (it has form %s, and this one reads form %s)", found, form)
		}
		return nil
	}
	if name, _ := tx.Cursor().First(); name != nil {
		return errors.New("it is not data of ingot dev")
	}
	b, err := tx.CreateBucketIfNotExists(about)
	if err != nil {
		return err
	}
	return b.Put(formKey, []byte(form))
}

// processOf says which process has the folder, if it has said so.
func processOf(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, pidFile))
	if _, number := strconv.Atoi(string(text)); err != nil || number != nil {
		return ""
	}
	return " (process " + string(text) + ")"
}

// cause is an error without the names of files.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Load hands out what a space holds, in the byte order of the keys.
func (d *Disk) Load(space string, give func(key, value []byte) error) error {
	return d.db.View(func(tx *bbolt.Tx) error {
		b := tx.Bucket(bucket(space))
		if b == nil {
			return nil
		}
		return b.ForEach(give)
	})
}

func bucket(space string) []byte { return []byte("s:" + space) }

// Empty removes everything that is kept.
func (d *Disk) Empty() error {
	return d.db.Update(func(tx *bbolt.Tx) error {
		var names [][]byte
		err := tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			if strings.HasPrefix(string(name), "s:") {
				names = append(names, name)
			}
			return nil
		})
		for _, name := range names {
			err = errors.Join(err, tx.DeleteBucket(name))
		}
		return err
	})
}

// Keep takes changes that belong together.
func (d *Disk) Keep(changes []embedded.Change) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range changes {
		d.next.add(c)
	}
	d.kept++
	d.changed.Signal()
}

// Ready returns why nothing can be kept at present.
func (d *Disk) Ready() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

// Safe returns when everything is written that was kept before.
func (d *Disk) Safe() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for want := d.kept; d.safe < want; d.settled.Wait() {
		if d.err != nil {
			return d.err
		}
		if d.closed {
			return errors.New("ingot dev is ending")
		}
	}
	return nil
}

// Close writes what is left and closes the folder.
func (d *Disk) Close() error {
	d.mu.Lock()
	d.closed = true
	d.changed.Signal()
	d.mu.Unlock()
	<-d.ended
	d.mu.Lock()
	err := d.err
	d.settled.Broadcast()
	d.mu.Unlock()
	return errors.Join(err, d.db.Close())
}

// run writes until the end.
func (d *Disk) run() {
	defer close(d.ended)
	d.mu.Lock()
	defer d.mu.Unlock()
	for {
		for d.next.empty() && !d.closed {
			d.safe = d.kept // a call may have changed nothing
			d.settled.Broadcast()
			d.changed.Wait()
		}
		if d.next.empty() {
			d.safe = d.kept
			return
		}
		now, upTo := d.next, d.kept
		d.next = newBatch()
		d.mu.Unlock()
		err := d.save(now)
		d.mu.Lock()
		if err == nil {
			d.safe, d.err = upTo, nil
			d.settled.Broadcast()
			continue
		}
		d.next = now.under(d.next)
		d.err = d.explain(err)
		d.settled.Broadcast()
		if d.closed {
			return
		}
		d.mu.Unlock()
		time.Sleep(againAfter)
		d.mu.Lock()
	}
}

// explain says what a person can do about an error of the disk.
func (d *Disk) explain(err error) error {
	const windows syscall.Errno = 112 // there, ENOSPC is a number that no call returns
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, windows) {
		return fmt.Errorf("the disk with the data folder %s is full: make room on it, and ingot dev goes on by itself; what it has "+
			"answered before is kept", d.dir)
	}
	return fmt.Errorf(
		"the data folder %s cannot be written to (%w): ingot dev goes on by itself once it can; what it has answered before is kept", d.dir,
		cause(err))
}

// write writes a batch in one transaction.
func (d *Disk) write(b *batch) error {
	return d.db.Update(func(tx *bbolt.Tx) error {
		for _, space := range b.names() {
			s := b.spaces[space]
			if s.drop {
				if err := tx.DeleteBucket(bucket(space)); err != nil && !errors.Is(err, bolterrors.ErrBucketNotFound) {
					return err
				}
			}
			if len(s.values) == 0 {
				continue
			}
			into, err := tx.CreateBucketIfNotExists(bucket(space))
			if err != nil {
				return err
			}
			into.FillPercent = 0.8 // most spaces grow at their end
			for _, key := range s.keys() {
				if v := s.values[key]; v.gone {
					err = into.Delete(raw(key))
				} else {
					err = into.Put(raw(key), raw(v.text))
				}
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// raw returns the bytes of a text, which nobody may alter. bbolt does not.
func raw(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
