package check

import (
	"os"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// configured is a samconfig.toml without mistakes; each case changes one thing in it.
const configured = `version = 0.1

[default.global.parameters]
stack_name = "dev"
parameter_overrides = "LogRetentionDays=7"

[default.build.parameters]
parallel = true

[default.deploy.parameters]
capabilities = "CAPABILITY_IAM" # roles

[prod.global.parameters]
stack_name = "prod"
parameter_overrides = ["MaximumConcurrency=50", "LogLevel='WARN'"]

[prod.deploy.parameters]
capabilities = ["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]
`

var configRules = []struct {
	name     string
	old, new string
	anchor   string // at the bar; "" for another file
	want     string
	followed string // replaces new; "": new is accepted, or the advice is not one text
}{
	{"as it is", "LogLevel='WARN'", "LogLevel='WARN'", "", "", ""},
	{"the older form", `"LogRetentionDays=7"`,
		`"ParameterKey=LogRetentionDays,ParameterValue=7 ParameterKey=LogLevel,ParameterValue=\"WARN\""`, "", "", ""},
	{"a table", `"LogRetentionDays=7"`, `{LogRetentionDays = 7}`, "", "", ""},
	{"no such parameter", "LogRetentionDays=7", "LogRetention=7", `|"LogRetention=7"`,
		"under default: the template has no parameter LogRetention; it has Counting, ", "LogRetentionDays=7"},
	{"not allowed", "LogRetentionDays=7", "LogRetentionDays=8", `|"LogRetentionDays=8"`,
		`under default: parameter LogRetentionDays cannot be "8"; give one of 1, 3, 5, 7, `, "LogRetentionDays=5"},
	{"too many", "MaximumConcurrency=50", "MaximumConcurrency=5000", `|"MaximumConcurrency=5000"`,
		"under prod: parameter MaximumConcurrency cannot be 5000; give at most 1000", "MaximumConcurrency=1000"},
	{"too few", "MaximumConcurrency=50", "MaximumConcurrency=1", `|"MaximumConcurrency=1"`,
		"under prod: parameter MaximumConcurrency cannot be 1; give at least 2", "MaximumConcurrency=2"},
	{"not a number", "MaximumConcurrency=50", "MaximumConcurrency=many", `|"MaximumConcurrency=many"`,
		`under prod: parameter MaximumConcurrency cannot be "many"; give a number`, "MaximumConcurrency=50"},
	{"half a parameter", "LogRetentionDays=7", "LogRetentionDays", `|"LogRetentionDays"`,
		`"LogRetentionDays" is not a parameter; write parameter_overrides = "NAME=VALUE NAME=VALUE"`,
		"LogRetentionDays=7 LogLevel=WARN"},
	{"no version", "version = 0.1\n", "", "|\n[default", "the file has no version, and SAM refuses it; write version = 0.1",
		"version = 0.1\n"},
	{"the build knows nothing of it", "[default.deploy.parameters]\n",
		"[default.deploy.parameters]\nparameter_overrides = \"Architecture=x86_64\"\n", `|parameter_overrides = "Arch`,
		"sam build does not read the parameters of deploy: with another Architecture it would build for the wrong processor; write them " +
			"under default.global.parameters, and nowhere else", "[default.deploy.parameters]\n"},
	{"a cache", "parallel = true", "parallel = true\ncached = true", "|cached = true",
		"SAM's cache looks only at the files in a Go function's own folder: after a change in another package, the old program would be " +
			"deployed; write cached = false", "parallel = true\ncached = false"},
	{"no capability", `capabilities = "CAPABILITY_IAM" # roles`, "", "[default.|deploy",
		`CloudFormation makes the functions' roles only with CAPABILITY_IAM; write capabilities = "CAPABILITY_IAM" under default.deploy.parameters`, `capabilities = "CAPABILITY_IAM"`},
	{"another capability", `["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"]`, `"CAPABILITY_AUTO_EXPAND"`, `|"CAPABILITY_AUTO_EXPAND"`,
		"CloudFormation makes the functions' roles only with CAPABILITY_IAM", `"CAPABILITY_IAM"`},
	{"one stack for two", `stack_name = "prod"`, `stack_name = "dev"`, "", "", `stack_name = "prod"`},
	{"not TOML", `stack_name = "dev"`, `stack_name = dev`, "stack_name = |dev", "not TOML: ", ""},
	{"declared twice", `stack_name = "dev"`, "stack_name = \"dev\"\nstack_name = \"d\"", "|stack_name = \"d\"\n",
		"not TOML: stack_name is already declared on line 4; write one of the two", `stack_name = "dev"`},
}

func TestMistakesOfSamconfig(t *testing.T) {
	for _, c := range configRules {
		t.Run(c.name, func(t *testing.T) {
			in := own{}.input(t)
			in.Config = &textfile.File{Name: "samconfig.toml", Text: []byte(replace(t, configured, [][2]string{{c.old, c.new}}))}
			r := run(t, in)
			if c.name == "one stack for two" {
				c.anchor, c.want = "|", "default"
				if len(r.Findings) != 1 ||
					!strings.HasSuffix(r.Findings[0].String(),
						"prod has stack dev, as default has: deploying one would change the other; write a name of its own") {
					t.Fatal(r.Findings)
				}
			} else if c.want == "" {
				if len(r.Findings) > 0 {
					t.Error(r.Findings)
				}
				return
			} else if want := "samconfig.toml:" + tomlPlace(t, string(in.Config.Text), c.anchor) + ": " + c.want; len(r.Findings) != 1 ||
				!strings.HasPrefix(r.Findings[0].String(), want) || r.Clean() {
				t.Fatalf("got  %v\nwant %s", r.Findings, want)
			}
			if c.followed == "" {
				return
			}
			in.Config.Text = []byte(replace(t, configured, [][2]string{{c.old, c.followed}}))
			if r := run(t, in); len(r.Findings) > 0 {
				t.Errorf("the advice was followed: %v", r.Findings)
			}
		})
	}
}

// tomlPlace does what place does. If a file lacks a version, its mistake stands at the beginning.
func tomlPlace(t *testing.T, text, anchor string) string {
	if anchor == "|\n[default" {
		return "1:1"
	}
	return place(t, text, anchor)
}

// The template is compared with the pipeline under the parameters of each environment. If only some
// environments have a finding, the finding names them.
func TestParametersOfEachEnvironment(t *testing.T) {
	reserved := [2]string{ingestCode, ingestCode + "      ReservedConcurrentExecutions: 20\n"}
	in := own{template: [][2]string{reserved}}.input(t)
	in.Config = &textfile.File{Name: "samconfig.toml", Text: []byte(configured)}
	r := run(t, in)
	if len(r.Findings) != 1 ||
		!strings.Contains(r.Findings[0].String(),
			": with the parameters of prod: 20 of IngestFunction are reserved, and its mapping calls up to 50: ") {
		t.Errorf("%v", r.Findings)
	}
	in.ConfigEnv = "default"
	if r := run(t, in); len(r.Findings) != 0 {
		t.Errorf("default alone: %v", r.Findings)
	}
	in.ConfigEnv = ""
	in.Parameters = map[string]string{"MaximumConcurrency": "20"}
	if r := run(t, in); len(r.Findings) != 0 {
		t.Errorf("the command line has the last word: %v", r.Findings)
	}
	in.Parameters = map[string]string{"MaximumConcurrency": "30"}
	if r := run(t, in); len(r.Findings) != 1 || strings.Contains(r.Findings[0].String(), "with the parameters") {
		t.Errorf("what all environments have is said plainly: %v", r.Findings)
	}
	in.ConfigEnv = "stage"
	if _, err := Run(in); err == nil || err.Error() != "samconfig.toml has no environment stage; it has default, prod" {
		t.Errorf("%v", err)
	}
}

func TestOwnSamconfigIsClean(t *testing.T) {
	text, err := os.ReadFile("../../../samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	in := own{}.input(t)
	in.Config = &textfile.File{Name: "samconfig.toml", Text: text}
	if r := run(t, in); len(r.Findings) != 0 {
		t.Error(r.Findings)
	}
}
