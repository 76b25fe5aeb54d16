package testworld

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"sync"

	"github.com/ingot-events/ingot/verify/sums"
)

// Folder is a [sums.Folder] in memory, which knows versions as a bucket does. Its zero value is
// empty.
type Folder struct {
	// Before is called before each conditional write. It may be nil.
	Before func(name string)

	mu    sync.Mutex
	files map[string][]byte
}

// String implements [sums.Folder].
func (*Folder) String() string { return "memory" }

// Write implements [sums.Folder].
func (f *Folder) Write(_ context.Context, name string, from func(io.Writer) error) error {
	var b bytes.Buffer
	if err := from(&b); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.files == nil {
		f.files = map[string][]byte{}
	}
	f.files[name] = b.Bytes()
	return nil
}

// Read implements [sums.Folder].
func (f *Folder) Read(ctx context.Context, name string) (io.ReadCloser, error) {
	file, _, err := f.ReadVersion(ctx, name)
	return file, err
}

// ReadVersion implements [sums.Versions].
func (f *Folder) ReadVersion(_ context.Context, name string) (io.ReadCloser, string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	text, there := f.files[name]
	if !there {
		return nil, "", fs.ErrNotExist
	}
	return io.NopCloser(bytes.NewReader(text)), versionOf(text), nil
}

// WriteVersion implements [sums.Versions].
func (f *Folder) WriteVersion(ctx context.Context, name, version string, from func(io.Writer) error) (string, error) {
	if f.Before != nil {
		f.Before(name)
	}
	f.mu.Lock()
	text, there := f.files[name]
	f.mu.Unlock()
	if there != (version != "") || there && versionOf(text) != version {
		return "", sums.ErrReplaced
	}
	if err := f.Write(ctx, name, from); err != nil {
		return "", err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return versionOf(f.files[name]), nil
}

// Remove implements [sums.Folder].
func (f *Folder) Remove(_ context.Context, name string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.files, name)
	return nil
}

// Len returns how many files there are.
func (f *Folder) Len() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.files)
}

func versionOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
