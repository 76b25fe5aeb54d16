package local

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/scaffold"
	"github.com/ingot-events/ingot/pipeline"
)

// initIndexes adds the indexes that a pipeline.yaml uses to the template.yaml beside it.
func (a *app) initIndexes(o initOptions, dir string) error {
	if o.events != "" {
		return cli.Usagef("--indexes and --events do not go together: --indexes changes a repository, and --events begins one")
	}
	name := filepath.Join(dir, "pipeline.yaml")
	const made = "run ingot init --indexes in a repository that ingot init has made"
	_, p, err := command.LoadFile(name, made, pipeline.CheckOnly())
	if err != nil {
		return err
	}
	file := filepath.Join(dir, "template.yaml")
	was, err := cli.ReadFile(file, made)
	if err != nil {
		return cli.Usage(err)
	}
	sample, err := fs.ReadFile(ingot.Deployment(), "template.yaml")
	if err != nil {
		return err
	}
	is, added, err := scaffold.AddIndexes(was, sample, p.Indexes())
	if err != nil {
		return cli.Usagef("%s: %w; run ingot init --diff, and take over the lines about the indexes by hand", file, err)
	}
	if len(added) > 0 {
		if err := os.WriteFile(file, is, 0o644); err != nil {
			return err
		}
	}
	if a.JSON() {
		return a.WriteJSON(InitReport{Indexes: added})
	}
	if len(added) == 0 {
		_, err = fmt.Fprintln(a.Stdout, file+" has every index that pipeline.yaml uses")
		return err
	}
	_, err = fmt.Fprintln(a.Stdout, "added to "+file+": "+strings.Join(added, ", "))
	if len(added) > 1 {
		a.Say("CloudFormation adds only one index to a table that exists in each deployment; if yours is " +
			"deployed, add them one after the other")
	}
	return err
}

// initMigrate writes the capture function of the migration.yaml in a repository.
func (a *app) initMigrate(dir string) error {
	const made = "run ingot init --migrate in a repository that ingot init has made, with a migration.yaml beside its pipeline.yaml"
	text := map[string][]byte{}
	for _, name := range []string{"go.mod", command.PipelineFile, "migration.yaml"} {
		var err error
		if text[name], err = cli.ReadFile(filepath.Join(dir, name), made); err != nil {
			return cli.Usage(err)
		}
	}
	r, err := scaffold.New(scaffold.Config{Module: modfile.ModulePath(text["go.mod"]), Name: filepath.Join(dir, command.PipelineFile),
		Pipeline: text[command.PipelineFile]})
	if err != nil {
		return cli.Usage(err)
	}
	list, err := r.Migrate(ingot.Deployment())
	if err == nil {
		err = taken(dir, list)
	}
	if err == nil {
		err = writeFiles(dir, list)
	}
	if err == nil {
		err = a.printMade(dir, list)
	}
	if err == nil {
		a.Say("next: put values in place of ??? in %s, and then, in its folder: CGO_ENABLED=0 sam build && sam deploy",
			filepath.Join(dir, scaffold.MigrateFolder, "samconfig.toml"))
	}
	return err
}
