package quarantine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// Dir is a folder of letters. It holds two files for each: ID.json, and ID.body with what the
// letter sends, which any editor may change. They hold whole messages, so only their owner may read
// them.
type Dir struct{ path string }

// MakeDir opens a folder, and makes it if it does not exist.
func MakeDir(path string) (Dir, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return Dir{}, fmt.Errorf("%s: %w", path, textfile.Cause(err))
	}
	return OpenDir(path)
}

// OpenDir opens a folder.
func OpenDir(path string) (Dir, error) {
	switch info, err := os.Stat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return Dir{}, fmt.Errorf("%s: there is no such folder; ingot quarantine pull %s makes it", path, path)
	case err != nil:
		return Dir{}, fmt.Errorf("%s: %w", path, textfile.Cause(err))
	case !info.IsDir():
		return Dir{}, fmt.Errorf("%s is not a folder", path)
	}
	return Dir{path}, nil
}

// safe reports whether an id can be the name of a file as it is. The ids of SQS are UUIDs.
func safe(id string) bool {
	return id != "" && len(id) <= 100 && !strings.ContainsFunc(id, func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_')
	})
}

// File returns the path of a letter's file.
func (d Dir) File(id string) string { return filepath.Join(d.path, id+".json") }

// Body returns the path of the file with a letter's body.
func (d Dir) Body(id string) string { return filepath.Join(d.path, id+".body") }

// Save writes a letter's file. A reader sees either the old file or the new one, even after a
// crash.
func (d Dir) Save(l *Letter) error {
	var text bytes.Buffer
	if err := show.JSON(&text, l); err != nil {
		return err
	}
	return d.write(l.ID, d.File(l.ID), text.Bytes())
}

// SaveBody writes what a letter sends into a file of its own.
func (d Dir) SaveBody(l *Letter) error { return d.write(l.ID, d.Body(l.ID), []byte(l.Sends())) }

func (d Dir) write(id, file string, text []byte) error {
	if !safe(id) {
		return fmt.Errorf("message id %q cannot be the name of a file", id)
	}
	if err := writeWhole(d.path, file, text); err != nil {
		return fmt.Errorf("%s: %w", file, textfile.Cause(err))
	}
	return nil
}

// writeWhole writes a file beside its place and then moves it there.
func writeWhole(dir, file string, text []byte) (err error) {
	f, err := os.CreateTemp(dir, ".saving-*") // only its owner may read it
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	return err
}

// Load reads the letter with this id. It returns nil and no error if there is no such letter.
func (d Dir) Load(id string) (*Letter, error) {
	if !safe(id) {
		return nil, nil
	}
	text, err := os.ReadFile(d.File(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	l := &Letter{}
	if err == nil {
		err = json.Unmarshal(text, l)
	}
	if err == nil {
		err = l.check()
	}
	if err == nil && l.ID != id {
		err = errors.New("it holds another message; a file keeps its name")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.File(id), textfile.Cause(err))
	}
	return l, d.edited(l)
}

// edited gives a letter that was not sent yet the body that its file holds, if somebody has changed
// it. An editor may add a line end, which is left out.
func (d Dir) edited(l *Letter) error {
	if !l.Open() || l.Resent != nil {
		return nil
	}
	text, err := os.ReadFile(d.Body(l.ID))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // it was pulled without one
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.Body(l.ID), textfile.Cause(err))
	}
	body, first := string(text), l.first()
	if !strings.HasSuffix(first.Sends(), "\n") {
		body = strings.TrimSuffix(strings.TrimSuffix(body, "\n"), "\r")
	}
	if body != l.Sends() {
		l.Edit(body)
	}
	return nil
}

// ids lists the letters of the folder.
func (d Dir) ids() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.path, textfile.Cause(err))
	}
	var ids []string
	for _, e := range entries {
		if id, is := strings.CutSuffix(e.Name(), ".json"); is && safe(id) && !e.IsDir() {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// List reads all letters, in the order in which they came to their queue. The error names the files
// that cannot be read. The other letters are in the list in any case.
func (d Dir) List() ([]*Letter, error) {
	ids, err := d.ids()
	var list []*Letter
	var errs []error
	for _, id := range ids {
		l, err := d.Load(id)
		if err != nil {
			errs = append(errs, err)
		} else if l != nil {
			list = append(list, l)
		}
	}
	slices.SortStableFunc(list, func(a, b *Letter) int { return a.Sent.Compare(b.Sent) })
	return list, errors.Join(append(errs, err)...)
}

// minID is how much of an id a person must write.
const minID = 4

// Find reads the letter whose id begins with text, of at least four characters.
func (d Dir) Find(text string) (*Letter, error) {
	ids, err := d.ids()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, id := range ids {
		if id == text {
			found = []string{id}
			break
		}
		if len(text) >= minID && strings.HasPrefix(id, text) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		if len(text) < minID {
			return nil, fmt.Errorf("%q is too short for a message: write at least %d characters of its id", text, minID)
		}
		return nil, fmt.Errorf("%s holds no message whose id begins with %q; ingot quarantine list %s shows what it holds", d.path,
			text, d.path)
	case 1:
		l, err := d.Load(found[0])
		if err == nil && l == nil {
			err = fmt.Errorf("%s has been deleted in the meantime", d.File(found[0]))
		}
		return l, err
	}
	return nil, fmt.Errorf("%d messages begin with %q: write more of the id", len(found), text)
}
