package scaffold

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// stub is a command that writes down how it was called. go fails as STUB says, as the check does if
// something is wrong.
const stub = "#!/bin/sh\necho \"$(basename \"$0\") $*\" >> calls\n[ \"$(basename \"$0\")\" != go ] || exit \"${STUB:-0}\"\n"

// TestMakeDeploy runs make deploy of a new repository, with stand-ins for go and for the SAM CLI.
// The check compares with what the stack runs before anything is built, and stops a bad deployment.
// No question is asked where nobody can answer.
func TestMakeDeploy(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not on PATH; to have this test run, install it")
	}
	const (
		compared = "go tool ingot check --events events/sample.ndjson --config-env prod --was deployed\n"
		plain    = "go tool ingot check --events events/sample.ndjson\n"
		built    = "sam build --config-env prod\n"
		deployed = "sam deploy --config-env prod "
	)
	for name, c := range map[string]struct {
		args        []string
		check       string // the exit code of the check
		calls, says string
		fails       bool
	}{
		"deployed": {[]string{"DEPLOYFLAGS=--no-confirm-changeset"}, "0", compared + built + deployed + "--no-confirm-changeset\n",
			"", false},
		"change set": {[]string{"DEPLOYFLAGS=--no-execute-changeset"}, "0", compared + built + deployed + "--no-execute-changeset\n",
			"", false},
		"bad": {[]string{"DEPLOYFLAGS=--no-confirm-changeset"}, "3", compared,
			"make deploy CHECKFLAGS= deploys without comparing", true},
		"care is taken": {[]string{"DEPLOYFLAGS=--no-confirm-changeset", "CHECKFLAGS="}, "0", plain + built + deployed +
			"--no-confirm-changeset\n", "", false},
		"no terminal": {nil, "0", "", "DEPLOYFLAGS=--no-confirm-changeset to deploy", true},
		"parameters": {[]string{"DEPLOYFLAGS=--no-confirm-changeset --parameter-overrides MemorySize=256"}, "0", "",
			"write parameters of the template into samconfig.toml", true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := made(t)
			bin := filepath.Join(dir, "bin")
			must.Succeed(t, os.Mkdir(bin, 0o700))
			for _, command := range []string{"go", "sam"} {
				must.Succeed(t, os.WriteFile(filepath.Join(bin, command), []byte(stub), 0o700))
			}
			cmd := exec.Command("make", append([]string{"deploy", "CONFIG=prod"}, c.args...)...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "MAKEFLAGS=", "STUB="+c.check, "PATH="+bin+string(os.PathListSeparator)+
				os.Getenv("PATH"))
			out, err := cmd.CombinedOutput()
			calls, _ := os.ReadFile(filepath.Join(dir, "calls")) // there is none if nothing was called
			if string(calls) != c.calls || (err != nil) != c.fails || !strings.Contains(string(out), c.says) {
				t.Errorf("%v, called\n%ssaid\n%s", err, calls, out)
			}
		})
	}
}

// TestMakeDeployNoGo runs make deploy of a repository without Go code, with stand-ins for the tool,
// for the SAM CLI and for curl. The functions are those of the release, for the processor that
// samconfig.toml names, and a file that is not what the checksums say is not deployed.
func TestMakeDeployNoGo(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil {
		t.Skip("make is not on PATH; to have this test run, install it")
	}
	dir := write(t, (*Repository).NoGo)
	bin, release := filepath.Join(dir, "bin"), filepath.Join(dir, "release")
	must.Succeed(t, errors.Join(os.Mkdir(bin, 0o700), os.Mkdir(release, 0o700)))
	for command, text := range map[string]string{"ingot": stub, "sam": stub,
		"curl": "#!/bin/sh\n[ $2 = -o ] && exec cp $4 $3; exec cat $2\n"} {
		must.Succeed(t, os.WriteFile(filepath.Join(bin, command), []byte(text), 0o700))
	}
	var sums strings.Builder
	for _, name := range []string{"ingest-arm64.zip", "streams-arm64.zip", "ingest-x86_64.zip", "streams-x86_64.zip"} {
		must.Write(t, filepath.Join(release, name), name)
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256([]byte(name)), name)
	}
	must.Write(t, filepath.Join(release, "checksums.txt"), sums.String())
	deploy := func(ok bool, calls string) {
		t.Helper()
		cmd := exec.Command("make", "deploy", "FROM="+release)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "MAKEFLAGS=", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		called, _ := os.ReadFile(filepath.Join(dir, "calls"))
		if (err == nil) != ok || string(called) != calls {
			t.Errorf("%v, called\n%ssaid\n%s", err, called, out)
		}
		must.Succeed(t, os.Remove(filepath.Join(dir, "calls")))
	}
	has := func(processor string) {
		t.Helper()
		for _, function := range []string{"ingest", "streams"} {
			text := must.Read(t, filepath.Join(dir, "functions", function+".zip"))
			must.Equal(t, string(text), function+"-"+processor+".zip")
		}
	}
	const checked, deployed = "ingot check --events events/sample.ndjson --config-env default --was deployed\n",
		"sam deploy --config-env default\n"
	deploy(true, checked+deployed)
	has("arm64")
	samconfig := filepath.Join(dir, "samconfig.toml")
	text := strings.Replace(string(must.Read(t, samconfig)), "LogRetentionDays=7", "LogRetentionDays=7 Architecture=x86_64", 1)
	must.Write(t, samconfig, text)
	before := time.Now().Add(-time.Hour)
	for _, name := range []string{"ingest.zip", "streams.zip"} { // older than samconfig.toml
		must.Succeed(t, os.Chtimes(filepath.Join(dir, "functions", name), before, before))
	}
	deploy(true, checked+deployed)
	has("x86_64")
	must.Write(t, filepath.Join(release, "streams-x86_64.zip"), "something else")
	must.Succeed(t, os.Remove(filepath.Join(dir, "functions/streams.zip")))
	deploy(false, checked)
}

// made writes the files of a new repository, for the pipeline of orders.
func made(t *testing.T) (dir string) { return write(t, (*Repository).Files) }

func write(t *testing.T, list func(*Repository, fs.FS) ([]File, error)) (dir string) {
	t.Helper()
	r, err := New(Config{Module: "example.com/shop"})
	must.Succeed(t, err)
	files, err := list(r, os.DirFS(root))
	must.Succeed(t, err)
	dir = t.TempDir()
	for _, f := range files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.Write(t, name, string(f.Text))
	}
	return dir
}
