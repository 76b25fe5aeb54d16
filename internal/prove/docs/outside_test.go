package docs

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// library is the page for people who use the packages.
const library = "docs/library.md"

// TestOutsideThisModule does what docs/library.md tells somebody to do whose tests are in another
// module. It uses the page's commands, its pipeline.yaml and its test. It needs only what building
// this module has downloaded. The module proxy refuses every request, as some proxies do for
// modules that they do not have.
func TestOutsideThisModule(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command, which -short leaves out")
	}
	here, err := filepath.Abs(root)
	must.Succeed(t, err)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "not from here", http.StatusForbidden)
	}))
	defer proxy.Close()
	shop := t.TempDir()
	file := func(name, text string) {
		name = filepath.Join(shop, name)
		must.Succeed(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must.Write(t, name, text)
	}
	run := func(words ...string) {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Dir = shop
		cmd.Env = append(os.Environ(), "GOPROXY="+proxy.URL, "GOFLAGS=", "GOWORK=off")
		ran(t, cmd)
	}
	file("testdata/pipeline.yaml", blocksOf(t, library, "yaml pipeline")[0].text)
	file("go.sum", read(t, "go.sum")) // otherwise the checksum database would be asked
	test := ""
	for _, b := range blocksOf(t, library, "go") {
		if strings.Contains(b.text, `os.DirFS("testdata")`) {
			test += b.text
		}
	}
	file("visits_test.go", `package shop

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ingot-events/ingot/envelope"
	"github.com/ingot-events/ingot/ingottest"
	"github.com/ingot-events/ingot/pipeline"
)

func TestVisits(t *testing.T) {
`+test+"}\n")
	ran := 0
	for _, b := range blocksOf(t, library, "sh") {
		if !strings.HasPrefix(b.text, "go mod ") {
			continue
		}
		for line := range strings.Lines(b.text) {
			ran++
			run(strings.Fields(strings.Replace(line, "=../ingot", "="+here, 1))...)
		}
	}
	if test == "" || ran != 4 {
		t.Fatalf("docs/library.md has %d commands and the test %q", ran, test)
	}
}

// TestOutsidePipelineIsTheExamples shows that the pipeline.yaml of docs/library.md is the one with
// which its test also runs here.
func TestOutsidePipelineIsTheExamples(t *testing.T) {
	must.Equal(t, blocksOf(t, library, "yaml pipeline")[0].text, read(t, "ingottest/testdata/pipeline.yaml"))
}
