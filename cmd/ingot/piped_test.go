package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/cli"
)

// piped runs the tool with a standard input and no environment. The first word may be a whole line.
func piped(t *testing.T, stdin string, words ...string) ran {
	t.Helper()
	return pipedWith(t, nil, stdin, words[0], words[1:]...)
}

func pipedWith(t *testing.T, env map[string]string, stdin, line string, more ...string) ran {
	t.Helper()
	look := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
	return toolIn(t.Context(), appOf(cli.IO{Env: look, Stdin: strings.NewReader(stdin)}), line, more...)
}

// atRoot makes the working directory like the root of the repository, where the examples of help
// are meant to run, before a user put a pipeline.yaml and a template.yaml there.
func atRoot(t *testing.T) {
	t.Helper()
	root := t.TempDir()
	must.Succeed(t, writeRoot(root))
	t.Chdir(root)
}

// writeRoot writes the files of the repository's root that commands read.
func writeRoot(root string) error {
	for name, from := range map[string]string{"pipeline.yaml": "../../" + sampleshop.Pipeline, "template.yaml": "../../" +
		sampleshop.Template,
		"prices/us-east-1.yaml": "../../prices/us-east-1.yaml"} {
		text, err := os.ReadFile(from)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(root, name), text, 0o644)
		}
		if err != nil {
			return err
		}
	}
	if err := writeInto(root,
		map[string]string{"cmd/ingest/main.go": "package main\n", "cmd/streams/main.go": "package main\n"}); err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(root, "events"), os.DirFS("../../events"))
}
