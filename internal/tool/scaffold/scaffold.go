package scaffold

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

//go:embed files
var files embed.FS

// Prices is the file of prices, for ingot cost. It belongs to the user from the first day.
const Prices = "prices/us-east-1.yaml"

// Ingot is the module path of the library.
const Ingot = "github.com/ingot-events/ingot"

// Repository is a repository to be made. [New] returns one.
type Repository struct {
	module   string
	name     string
	pipeline []byte
	compiled *pipeline.Pipeline
	sample   []string
	version  string
	replace  string
}

// Config says what repository to make. Except for Module, the zero value of each field is right for
// most users.
type Config struct {
	// Module is the module path of the new repository, such as example.com/shop.
	Module string
	// Pipeline is its pipeline.yaml. nil means a small one, for orders.
	Pipeline []byte
	// Name is how messages call Pipeline. The files of its schemas are looked for beside it. Empty
	// means pipeline.yaml.
	Name string
	// Sample holds message bodies that the pipeline accepts, for the tests and for events/. It may
	// be nil only if Pipeline is nil.
	Sample []string
	// Version is the version of the library, such as v1.2.3. Empty means the newest version.
	Version string
	// Replace is a folder with a checkout of the library, which is used instead of a release. Empty
	// means that there is none.
	Replace string
}

// File is one file of the repository.
type File struct {
	Name string // with slashes
	Text []byte
}

// MaxSample is how many events of a sample the repository keeps.
const MaxSample = 20

// New checks the configuration. If the pipeline has mistakes, the error has the type
// [pipeline.Mistakes].
func New(c Config) (*Repository, error) {
	if what := badModule(c.Module); what != "" {
		return nil, fmt.Errorf("module path %q: %s; write one with --module, such as example.com/shop", c.Module, what)
	}
	r := &Repository{module: c.Module, name: cmp.Or(c.Name, "pipeline.yaml"), pipeline: c.Pipeline, sample: c.Sample, version: c.Version,
		replace: c.Replace}
	if r.pipeline == nil {
		r.pipeline, r.sample = static("pipeline.yaml"), strings.Split(strings.TrimSpace(string(static("sample.ndjson"))), "\n")
	}
	r.sample = r.sample[:min(len(r.sample), MaxSample)]
	var err error
	r.compiled, err = textfile.File{Name: r.name, Text: r.pipeline}.Load(pipeline.CheckOnly())
	return r, err
}

func static(name string) []byte {
	text, err := files.ReadFile("files/" + name)
	if err != nil {
		panic("scaffold: " + err.Error()) // cannot happen: the file is built in
	}
	return text
}

var modulePath = regexp.MustCompile(`^[A-Za-z0-9._~-]+(/[A-Za-z0-9._~-]+)*$`)

func badModule(module string) string {
	switch {
	case module == "":
		return "it is empty"
	case !modulePath.MatchString(module):
		return "it has characters other than letters, digits, '.', '-', '_', '~' and '/'"
	case packageOf(module) == "":
		return "its last part has no letter, so that no package can be named after it"
	}
	return ""
}

// packageOf returns the name of the package at the module's root.
func packageOf(module string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r - 'A' + 'a'
		}
		return -1
	}, path.Base(module))
	if name = strings.TrimLeft(name, "0123456789"); keyword[name] {
		return name + "events"
	}
	return name
}

// keyword holds words that cannot name a package, or that the package's own files use for something
// else.
var keyword = map[string]bool{"break": true, "case": true, "chan": true, "const": true, "continue": true, "default": true, "defer": true,
	"else": true, "fallthrough": true, "for": true, "func": true, "go": true, "goto": true, "if": true, "import": true, "interface": true,
	"map": true, "package": true, "range": true, "return": true, "select": true, "struct": true, "switch": true, "type": true, "var": true,
	"main": true, "ingot": true, "embed": true, "testing": true, "pipeline": true, "ingottest": true, "strings": true, "os": true,
	"internal": true}

// stackName returns the module's last part in a form that CloudFormation accepts: letters, digits
// and hyphens, beginning with a letter.
func stackName(module string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-':
			return r
		case r == '_' || r == '.':
			return '-'
		}
		return -1
	}, path.Base(module))
	name = strings.Trim(strings.TrimLeft(name, "0123456789-"), "-")
	return name[:min(len(name), 100)]
}

// Files returns the files of the repository, in the order in which a person will want to read them.
// sample holds the template.yaml of the sample shop, the file of prices, and AGENTS.md.
func (r *Repository) Files(sample fs.FS) ([]File, error) {
	base, err := fs.ReadFile(sample, "template.yaml")
	if err != nil {
		return nil, err
	}
	prices, err := fs.ReadFile(sample, Prices)
	if err != nil {
		return nil, err
	}
	agents, err := fs.ReadFile(sample, "AGENTS.md")
	if err != nil {
		return nil, err
	}
	list := []File{
		{"README.md", r.fill("README.md.tmpl", map[string]string{"Before": r.before()})},
		{"pipeline.yaml", r.pipeline},
		{r.packageName() + ".go", r.fill("files.go.tmpl", map[string]string{"Embedded": r.embedded()})},
		{"pipeline_test.go", r.fill("pipeline_test.go.tmpl", nil)},
		{"cmd/ingest/main.go",
			r.fill("main.go.tmpl", map[string]string{"Function": "ingest", "Start": "StartIngest",
				"Does": "stores the events of an SQS queue"})},
		{"cmd/streams/main.go",
			r.fill("main.go.tmpl", map[string]string{"Function": "streams", "Start": "StartStreams",
				"Does": "keeps the totals from the events table's stream"})},
	}
	stack, err := Template(base, r.compiled.Indexes())
	if err != nil {
		return nil, err
	}
	list = append(list,
		File{"template.yaml", stack},
		File{"samconfig.toml", r.fill("samconfig.toml.tmpl", nil)},
		File{"env.json", static("env.json")},
		File{"Makefile", r.fill("Makefile.tmpl", nil)},
		File{".github/workflows/ci.yml", static("ci.yml")},
		File{".gitignore", static("gitignore")},
		File{"go.mod", r.goMod()},
		File{"events/sample.ndjson", []byte(strings.Join(r.sample, "\n") + "\n")},
		File{"events/ingest.json", sqsEvent(r.sample[0])},
		File{Prices, prices},
		File{"AGENTS.md", agents},
	)
	return list, nil
}

// before is what README says of a library that comes from a folder of this machine.
func (r *Repository) before() string {
	if r.replace == "" {
		return ""
	}
	return string(r.fill("before.md.tmpl", map[string]string{"Folder": r.replace}))
}

// MigrateFolder holds the capture function of a migration.
const MigrateFolder = "cmd/migrate/"

// Migrate returns the files with which a repository deploys the capture function of a migration.
// Its migration.yaml is beside pipeline.yaml.
func (r *Repository) Migrate(sample fs.FS) ([]File, error) {
	stack, err := fs.ReadFile(sample, MigrateFolder+"template.yaml")
	return []File{
		{"migration.go", r.fill("migration.go.tmpl", map[string]string{"Embedded": r.embedded()})},
		{MigrateFolder + "main.go", r.fill("migrate.go.tmpl", nil)},
		{MigrateFolder + "template.yaml", stack},
		{MigrateFolder + "samconfig.toml", r.fill("migrate.samconfig.toml.tmpl", nil)},
		{MigrateFolder + ".gitignore", []byte(".aws-sam/\n")},
	}, err
}

func (r *Repository) packageName() string { return packageOf(r.module) }

// embedded lists what the functions are built with, as a go:embed directive does: pipeline.yaml,
// and the files of its schemas.
func (r *Repository) embedded() string {
	schemas := slices.Compact(slices.Sorted(maps.Values(pipeline.SchemaFiles(r.pipeline))))
	for i, name := range schemas {
		if strings.ContainsAny(name, " \"`") {
			schemas[i] = strconv.Quote(name)
		}
	}
	return strings.Join(append([]string{"pipeline.yaml"}, schemas...), " ")
}

// fill fills in a file. Its values stand in double brackets, as [[Module]] does, which the
// templates of pipeline.yaml do not have.
func (r *Repository) fill(name string, more map[string]string) []byte {
	values := map[string]string{"Module": r.module, "Package": r.packageName(), "Stack": stackName(r.module)}
	maps.Copy(values, more)
	text := string(static(name))
	for k, v := range values {
		text = strings.ReplaceAll(text, "[["+k+"]]", v)
	}
	return []byte(text)
}

// goMod returns as much of go.mod as `go mod tidy` needs to write the rest.
func (r *Repository) goMod() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "module %s\n\ngo 1.26\n\ntool %s/cmd/ingot\n", r.module, Ingot)
	if r.version != "" && r.replace == "" {
		fmt.Fprintf(&b, "\nrequire %s %s\n", Ingot, r.version)
	}
	if r.replace != "" {
		// Any version is right here, because the folder replaces it. This one sorts before all
		// others.
		fmt.Fprintf(&b, "\nrequire %s v0.0.0\n\nreplace %s => %s\n", Ingot, Ingot, quoteFolder(r.replace))
	}
	return b.Bytes()
}

// quoteFolder writes a folder in a form that go.mod accepts: a path that begins with . or /, in
// quotes if it has blanks.
func quoteFolder(folder string) string {
	if strings.ContainsAny(folder, " \t\"'`") {
		text, _ := json.Marshal(folder)
		return string(text)
	}
	return folder
}

// sqsEvent returns what Lambda hands to the ingest function for one message.
func sqsEvent(body string) []byte {
	type record struct {
		MessageID  string            `json:"messageId"`
		Receipt    string            `json:"receiptHandle"`
		Body       string            `json:"body"`
		Attributes map[string]string `json:"attributes"`
		Source     string            `json:"eventSource"`
		ARN        string            `json:"eventSourceARN"`
		Region     string            `json:"awsRegion"`
	}
	e := map[string][]record{"Records": {{MessageID: "b6cd070b-4028-4a19-af58-c094799e29b2",
		Receipt: "AQEBh/89XJ/CCSEMjzpcaUQ1kJaeGRrEBNPETm6D1d6rUqg=", Body: body,
		Attributes: map[string]string{"ApproximateReceiveCount": "1", "SentTimestamp": "1772355600000"},
		Source:     "aws:sqs", ARN: "arn:aws:sqs:eu-west-1:123456789012:ingest", Region: "eu-west-1"}}}
	var b bytes.Buffer
	out := json.NewEncoder(&b)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(e); err != nil {
		panic("scaffold: " + err.Error()) // cannot happen: there are only texts
	}
	return b.Bytes()
}
