package sums

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Folder keeps the files of a pass: sums, and manifests that say which of these files count. [Dir]
// is a folder on disk.
type Folder interface {
	// Write stores what from writes as the file of this name. It replaces an earlier file. If it
	// returns an error, the earlier file is still there.
	Write(ctx context.Context, name string, from func(io.Writer) error) error
	// Read opens a file. If there is no such file, the error is [fs.ErrNotExist].
	Read(ctx context.Context, name string) (io.ReadCloser, error)
	// Remove removes a file that is no longer needed. It may also leave the file there.
	Remove(ctx context.Context, name string) error
	// String names the folder for people.
	String() string
}

// Versions is what a [Folder] has beside that many machines write at the same time. With it, a
// process that was given up and goes on all the same cannot replace what another one has written
// since: each manifest is replaced on the condition that it is still the one that was read.
type Versions interface {
	// ReadVersion is like Read, and also returns the version of the file.
	ReadVersion(ctx context.Context, name string) (file io.ReadCloser, version string, err error)
	// WriteVersion is like Write, on the condition that the file has the version, or is not there
	// if version is empty. It returns the new version, or [ErrReplaced].
	WriteVersion(ctx context.Context, name, version string, from func(io.Writer) error) (is string, err error)
}

// ErrReplaced means that another process has gone on with a segment. The caller stops. What it has
// read since its last checkpoint counts nowhere.
var ErrReplaced = errors.New("another process has gone on with the segment")

// Dir is a folder on disk. It is made if it does not exist. Only the user can read its files,
// because they hold the fields that totals are grouped by.
type Dir string

// String returns the path.
func (d Dir) String() string { return string(d) }

// Write implements [Folder]. The file appears under its name when it is complete and on disk.
func (d Dir) Write(_ context.Context, name string, from func(io.Writer) error) (err error) {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return fmt.Errorf("the work folder cannot be made: %w", err)
	}
	f, err := os.CreateTemp(string(d), name+".part-*")
	if err != nil {
		return fmt.Errorf("the work folder cannot be written: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := from(f); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(string(d), name), err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(string(d), name), err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("writing %s: %w", filepath.Join(string(d), name), err)
	}
	return os.Rename(f.Name(), filepath.Join(string(d), name))
}

// Read implements [Folder].
func (d Dir) Read(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(string(d), name))
}

// Remove implements [Folder].
func (d Dir) Remove(_ context.Context, name string) error {
	err := os.Remove(filepath.Join(string(d), name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// scratch is a temporary folder for what does not fit into memory, and what no other call needs.
type scratch struct{ Dir }

func newScratch() (scratch, error) {
	dir, err := os.MkdirTemp("", "ingot-verify-")
	if err != nil {
		return scratch{}, fmt.Errorf("a folder for what does not fit into memory cannot be made: %w", err)
	}
	return scratch{Dir(dir)}, nil
}

// Write implements [Folder]. It does not wait for the disk.
func (s scratch) Write(_ context.Context, name string, from func(io.Writer) error) error {
	f, err := os.OpenFile(filepath.Join(string(s.Dir), name), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(from(f), f.Close())
}

// remove removes the folder, if there is one.
func (s scratch) remove() error { return os.RemoveAll(string(s.Dir)) }
