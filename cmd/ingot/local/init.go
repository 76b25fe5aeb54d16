package local

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/cmd/ingot/command"
	"github.com/ingot-events/ingot/internal/tool/cli"
	"github.com/ingot-events/ingot/internal/tool/scaffold"
	"github.com/ingot-events/ingot/pipeline"
)

const initHelp = `Makes a repository that builds, tests and deploys a pipeline of your own: a small pipeline.yaml, the main programs
of both functions, template.yaml, samconfig.toml, sample events, tests, a Makefile, a CI workflow and a README. If
DIR does not exist, it is made; without DIR, it is this folder. No file that exists is changed, except with
--indexes. If the folder has a pipeline.yaml already, the repository is made for it.

With --events it proposes a pipeline.yaml from a file of sample events, one JSON document on each line: the types,
ids, times and keys. A comment beside each choice says how certain it is. The repository gets up to 20 of these
events, for its tests, and Git keeps what it gets. --keep masked gives fields that look personal other values there.

--no-go makes a repository without Go code: the SAM CLI deploys the functions of a release, and pipeline.yaml as a
layer. It has no tests in Go, and needs none to be deployed.

--diff is for after an upgrade. It writes nothing, and shows how the files in DIR differ from those that this
version of Ingot would write for the pipeline.yaml there. What you have changed yourself differs too: a line with -
is yours.

--indexes adds the indexes that the pipeline.yaml in DIR uses to the template.yaml in DIR, each with its attributes
and its alarm. It changes nothing else there, and takes no index out.

--migrate writes cmd/migrate for the migration.yaml in DIR: the capture function, with its template.yaml and its
samconfig.toml.

Exit code 3: --diff found differences.`

// initJSON documents --output json. A test compares it with initReport.
const initJSON = `
  files[]                 the files that were made
  differences[]           with --diff: file, diff; absent if there are none
  indexes[]               with --indexes: the indexes that were added; absent if there are none`

// fileDiff is how a file differs from what this version would write.
type fileDiff struct {
	File string `json:"file"`
	Diff string `json:"diff"`
}

// InitReport is what init did, or found, as JSON.
type InitReport struct {
	Files       []string   `json:"files,omitempty"`
	Differences []fileDiff `json:"differences,omitempty"`
	Indexes     []string   `json:"indexes,omitempty"`
}

type initOptions struct {
	module, events, keep string
	diff, indexes        bool
	migrate, noGo        bool
	noTidy               bool
}

func newInit(a *app) *cobra.Command {
	var o initOptions
	cmd := &cobra.Command{
		Use:   "init [DIR]",
		Short: "Make a repository for a pipeline of your own",
		Long:  initHelp,
		Example: `  ingot init shop --module example.com/shop
  ingot init shop --events sample.ndjson
  ingot init shop --events sample.ndjson --keep masked
  ingot init --diff
  ingot init --indexes
  ingot init --migrate
  ingot init shop --no-go`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return cli.Usagef("%s takes one folder, not %d; see %s --help", cmd.CommandPath(), len(args), cmd.CommandPath())
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(keeps, o.keep) {
				return cli.Usagef("--keep %q: write one of %s", o.keep, strings.Join(keeps, ", "))
			}
			if o.events == "" && cmd.Flags().Changed("keep") {
				return cli.Usagef("--keep is for --events FILE: without it, the sample events are Ingot's own")
			}
			dir := "."
			if len(args) == 1 && args[0] != "" {
				dir = args[0]
			}
			switch {
			case o.diff && o.indexes:
				return cli.Usagef("--diff and --indexes do not go together: --diff writes nothing")
			case o.migrate && (o.diff || o.indexes || o.noGo || o.events != "" || o.module != ""):
				return cli.Usagef("--migrate writes cmd/migrate, and nothing else: write it alone")
			case o.migrate:
				return a.initMigrate(dir)
			case o.diff:
				return a.initDiff(o, dir)
			case o.indexes:
				return a.initIndexes(o, dir)
			}
			return a.init(cmd.Context(), o, dir)
		},
	}
	cmd.Flags().StringVar(&o.module, "module", "", "the module path (default example.com/ and the folder's name)")
	cmd.Flags().StringVar(&o.events, "events", "", "propose pipeline.yaml from this file of events, one on each line; - is standard input")
	cmd.Flags().StringVar(&o.keep, "keep", keepAll, "with --events, what events/ gets of the file: all (up to 20 events as they are), "+
		"masked (other values in fields that look personal), none (made-up events instead)")
	cmd.Flags().BoolVar(&o.diff, "diff", false, "write nothing; show how the files differ from what this version would write")
	cmd.Flags().BoolVar(&o.indexes, "indexes", false, "add the indexes that pipeline.yaml uses to template.yaml, and write nothing else")
	cmd.Flags().BoolVar(&o.migrate, "migrate", false, "write cmd/migrate, which captures what migration.yaml moves, and nothing else")
	cmd.Flags().BoolVar(&o.noGo, "no-go", false, "write no Go code; deploy the functions of a release with the SAM CLI alone")
	cmd.Flags().BoolVar(&o.noTidy, "no-tidy", false, "do not run go mod tidy, which completes go.mod and go.sum")
	command.HasJSON(cmd, initJSON)
	return cmd
}

func (a *app) init(ctx context.Context, o initOptions, dir string) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return cli.Usage(err)
	}
	c := o.config(full)
	list, err := o.files(c)
	if err == nil {
		err = taken(full, list)
	}
	if err != nil {
		return err
	}
	unfit := false
	switch own, err := ownPipeline(dir); {
	case err != nil:
		return err
	case own != nil:
		list, err = a.forOwn(c, o, dir, own)
		if err != nil {
			return err
		}
	case o.events != "": // only now, because it says what it proposes
		if c.Pipeline, c.Sample, unfit, err = a.propose(o.events, o.keep); err != nil {
			return err
		}
		if list, err = o.files(c); err != nil {
			return err
		}
	}
	if err := writeFiles(full, list); err != nil {
		return err
	}
	if err := a.printMade(dir, list); err != nil {
		return err
	}
	if o.noGo {
		a.Say("done; next: %s", nextSteps(dir, "make check", unfit))
		return nil
	}
	if c.Replace != "" {
		a.Say("go.mod takes Ingot from the folder %s, which this program was built from; take the replace out to use a release",
			c.Replace)
	}
	if !o.noTidy {
		a.Say("go mod tidy completes go.mod and go.sum …")
		if err := tidy(ctx, full); err != nil {
			rest := nextSteps(dir, "go mod tidy && make test", unfit)
			if c.Replace == "" {
				rest += "\nIf Ingot cannot be downloaded, take it from a checkout first, in " + dir + ": go mod edit -replace " +
					scaffold.Ingot + "=FOLDER"
			}
			return fmt.Errorf("%w\nMend what it names, and go on with: %s", err, rest)
		}
	}
	steps := "make test"
	if o.noTidy {
		steps = "go mod tidy && make test"
	}
	a.Say("done; next: %s", nextSteps(dir, steps, unfit))
	return nil
}

// printMade lists the files of a new repository.
func (a *app) printMade(dir string, list []scaffold.File) error {
	var made InitReport
	for _, f := range list {
		made.Files = append(made.Files, filepath.Join(dir, filepath.FromSlash(f.Name)))
	}
	return a.Print(made, func(b *strings.Builder) { b.WriteString(strings.Join(made.Files, "\n") + "\n") })
}

// config says what repository to make in a folder.
func (o initOptions) config(dir string) scaffold.Config {
	return scaffold.Config{Module: cmp.Or(o.module, "example.com/"+filepath.Base(dir)), Version: release(), Replace: checkout()}
}

// files returns the files of a repository.
func (o initOptions) files(c scaffold.Config) ([]scaffold.File, error) {
	r, err := scaffold.New(c)
	if err != nil {
		return nil, cli.Usage(err)
	}
	return o.list(r)
}

func (o initOptions) list(r *scaffold.Repository) ([]scaffold.File, error) {
	if !o.noGo {
		return r.Files(ingot.Deployment())
	}
	list, err := r.NoGo(ingot.Deployment())
	if err != nil {
		return nil, cli.Usage(err)
	}
	return list, nil
}

// nextSteps says what to do with a new repository. If events of the sample do not fit the proposed
// pipeline.yaml, its tests fail until a person has completed it.
func nextSteps(dir, steps string, unfit bool) string {
	if dir != "." {
		steps = "cd " + dir + " && " + steps
	}
	if unfit {
		steps = "complete " + filepath.Join(dir, "pipeline.yaml") + ", then " + steps
	}
	return steps
}

// taken returns an error if one of the files exists. A pipeline.yaml without a go.mod is a
// beginning: the repository is made for it.
func taken(dir string, list []scaffold.File) error {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return cli.Usagef("%s is a file; name a folder, which init makes if it does not exist", dir)
	}
	var there []string
	for _, f := range list {
		if _, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(f.Name))); err == nil {
			there = append(there, f.Name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return cli.Usagef("%s: %w", dir, err)
		}
	}
	what := "see what differs with ingot init --diff " + dir
	made := slices.Contains(there, "go.mod") && slices.Contains(there, command.PipelineFile) // by init
	if !made {
		there = slices.DeleteFunc(there, func(name string) bool { return name == command.PipelineFile })
	}
	switch {
	case len(there) == 0:
		return nil
	case made:
	case len(there) == 1:
		what = "move this file away"
	default:
		what = "move these files away"
	}
	return cli.Usagef("%s has %s already, and init changes no file; name a new folder, or %s", dir, strings.Join(there, ", "), what)
}

// writeFiles creates all files, after [taken] has found none of them. It changes no file that
// exists.
func writeFiles(dir string, list []scaffold.File) error {
	for _, f := range list {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err != nil {
			return err
		}
		_, err = file.Write(f.Text)
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// tidy completes go.mod and go.sum. This needs the modules that Ingot depends on.
func tidy(ctx context.Context, dir string) error {
	cmd := exec.CommandContext(ctx, "go", "mod", "tidy")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod")
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("the files are written, and go mod tidy failed in %s: %w\n%s", dir, err, strings.TrimSpace(said.String()))
	}
	return nil
}

// release returns the version of this program, if go can download it.
func release() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return releaseOf(info.Main)
}

// releaseOf returns the version of a program's main module, if go can download it: the program was
// built from a download, which has a checksum, or from a checkout at a tag. For any other checkout,
// go makes up a version from the commit. Nobody else knows that commit. In a repository that init
// has made, go tool ingot is built from the folder that go.mod names in its replace, and has a
// version that does not exist.
func releaseOf(main debug.Module) string {
	if main.Replace != nil {
		return ""
	}
	downloaded := main.Sum != ""
	tagged := semver.IsValid(main.Version) && semver.Build(main.Version) == "" && !module.IsPseudoVersion(main.Version)
	if downloaded || tagged {
		return main.Version
	}
	return ""
}

// checkout returns the folder of the sources that this program was built from, if the program was
// built from a checkout that still exists and is not a release. Such a program has no version that
// could be downloaded.
func checkout() string {
	_, file, _, ok := runtime.Caller(0)
	if !ok || release() != "" || !filepath.IsAbs(file) {
		return ""
	}
	root := filepath.Join(filepath.Dir(file), "../../..")
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil || modfile.ModulePath(text) != scaffold.Ingot {
		return ""
	}
	return root
}

// initDiff shows how the files of a repository differ from what this version would write for it.
func (a *app) initDiff(o initOptions, dir string) error {
	if o.events != "" {
		return cli.Usagef("--diff and --events do not go together: --diff compares the files of a repository, and --events begins one")
	}
	full, err := filepath.Abs(dir)
	if err != nil {
		return cli.Usage(err)
	}
	c := o.config(full)
	if o.module == "" && !o.noGo {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if c.Module = modfile.ModulePath(text); err != nil || c.Module == "" {
			return cli.Usagef("%s has no go.mod that names a module; run ingot init --diff in a repository that ingot init has "+
				"made, or name its module with --module", dir)
		}
	}
	c.Name = filepath.Join(dir, command.PipelineFile)
	text, err := cli.ReadFile(c.Name, "run ingot init --diff in a repository that ingot init has made")
	if err != nil {
		return cli.Usage(err)
	}
	c.Pipeline, c.Sample = text, []string{"{}"}
	r, err := scaffold.New(c)
	if mistakes := (pipeline.Mistakes)(nil); errors.As(err, &mistakes) {
		return cli.Usagef("pipeline.yaml has mistakes, so nothing can be compared:\n%w", err)
	} else if err != nil {
		return cli.Usage(err)
	}
	list, err := o.list(r)
	if err != nil {
		return err
	}
	var found InitReport
	for _, f := range list {
		if owned(f.Name) {
			continue
		}
		was, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return cli.Usage(err)
		}
		was = bytes.ReplaceAll(was, []byte("\r\n"), []byte("\n")) // as Git checks out on Windows
		if text := diff.Diff(f.Name+" (yours)", was, f.Name+" (this version)", f.Text); text != nil {
			found.Differences = append(found.Differences, fileDiff{f.Name, string(text)})
		}
	}
	err = a.Print(found, func(b *strings.Builder) {
		for _, d := range found.Differences {
			b.WriteString(d.Diff)
		}
	})
	return cli.Differs(err, len(found.Differences) > 0)
}

// owned reports whether a file belongs to the user from the first day, so that a new version of
// Ingot changes nothing in it.
func owned(name string) bool {
	return slices.Contains([]string{command.PipelineFile, "README.md", "go.mod", scaffold.Prices}, name) ||
		strings.HasPrefix(name, "events/")
}
