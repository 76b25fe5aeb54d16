// Package textfile has a [File] of text that was read, such as pipeline.yaml, with the name that
// messages about it show.
package textfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ingot-events/ingot/pipeline"
)

// File is a file that has been read, with the name that findings show. It is a file system of
// itself, whatever its name, and of the files that it names; fs.FS refuses ../ and absolute names.
type File struct {
	Name string // the schemas that it names are in its folder
	Text []byte
}

// Load compiles the file as a pipeline. The errors are those of [pipeline.Load].
func (f File) Load(options ...pipeline.Option) (*pipeline.Pipeline, error) {
	return pipeline.Load(f, f.Name, options...)
}

// Cause returns what an error of a file says, without the name of the file.
func Cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Open fails: such a file system is read by ReadFile alone.
func (f File) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
}

// ReadFile is the method that [fs.ReadFile] prefers.
func (f File) ReadFile(name string) ([]byte, error) {
	if name == f.Name {
		return f.Text, nil
	}
	return os.ReadFile(filepath.FromSlash(name))
}
