package local

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/scaffold"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// ownPipeline returns the pipeline.yaml that a folder has already, or nil.
func ownPipeline(dir string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(dir, command.PipelineFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, cli.Usage(err)
	}
	return text, nil
}

// forOwn returns the files of a repository for the pipeline.yaml that the folder has, without that
// file.
func (a *app) forOwn(c scaffold.Config, o initOptions, dir string, own []byte) ([]scaffold.File, error) {
	c.Name, c.Pipeline = filepath.Join(dir, command.PipelineFile), own
	if o.events != "" {
		return nil, cli.Usagef("%s is there already, and --events proposes another; leave --events out, or move the file away", c.Name)
	}
	p, made, err := madeUp(textfile.File{Name: c.Name, Text: own})
	if err != nil {
		return nil, cli.Usage(err)
	}
	said := "is made up from it: put events of your own there"
	if c.Sample = made; len(made) == 0 {
		c.Sample, said = []string{"{}"}, "has no event, because none could be made up: write some there before make test"
	}
	list, err := o.files(c)
	if err != nil {
		return nil, err
	}
	a.Say("%s stays as it is; events/sample.ndjson %s", c.Name, said)
	needs := false
	for _, s := range p.Describe().Spec.Events {
		needs = needs || len(s.Requires) > 0
	}
	if len(made) > 0 && (needs || p.HasBounds()) {
		a.Say("a bound (atLeast, atMost) or requires may refuse an event that is made up, and then make test fails until you do")
	}
	return slices.DeleteFunc(list, func(f scaffold.File) bool { return f.Name == command.PipelineFile }), nil
}
