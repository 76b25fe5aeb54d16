package rules

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/kit/sampleshop"
	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/samconfig"
	"github.com/ingot-events/ingot/internal/tool/textfile"
	"github.com/ingot-events/ingot/pipeline"
)

// What the functions need is exactly what the sample's roles allow, apart from what every function
// needs. With a key of the user's own, this includes what they do with the key.
func TestNeedsAreThoseOfTheRoles(t *testing.T) {
	needsAreThoseOfTheRoles(t, false)
	needsAreThoseOfTheRoles(t, true)
}

func needsAreThoseOfTheRoles(t *testing.T, ownKey bool) {
	t.Helper()
	parameters := map[string]string{"PointerBucket": "large-payloads"}
	if ownKey {
		parameters["KmsKeyArn"] = "arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab"
	}
	tpl, err := template.Open(fileOf(t, sampleshop.Template), parameters)
	must.Succeed(t, err)
	p, err := textfile.File{Name: "pipeline.yaml", Text: fileOf(t, sampleshop.Pipeline)}.Load(pipeline.CheckOnly())
	must.Succeed(t, err)
	c := NewChecker("template.yaml", tpl, p, Places{})
	c.find()
	for _, f := range c.both() {
		var allowed, needed []string
		for _, s := range c.rightsOf(f).statements {
			if slices.Contains(s.keys, "M#*") {
				continue // the sample migrates no type
			}
			for _, action := range s.actions {
				if !strings.HasPrefix(action, "logs:") && !strings.HasPrefix(action, "xray:") {
					allowed = append(allowed, action)
				}
			}
		}
		ofKey := map[string]bool{} // one statement is for all that one key encrypts
		for _, n := range c.needsOf(f) {
			needed = append(needed, strings.Fields(strings.ToLower(n.actions))...)
			for _, action := range strings.Fields(strings.ToLower(n.key)) {
				ofKey[action] = true
			}
		}
		if ownKey {
			needed = append(needed, slices.Collect(maps.Keys(ofKey))...)
		}
		slices.Sort(allowed)
		slices.Sort(needed)
		if !slices.Equal(allowed, needed) {
			t.Errorf("the %s function's role allows\n%v\nand needs\n%v", f.role, allowed, needed)
		}
	}
}

func FuzzReadTOML(f *testing.F) {
	corpus.Add(f)
	files, err := filepath.Glob("../../../../*.toml")
	must.Succeed(f, err)
	for _, name := range files {
		f.Add(must.Read(f, name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, err := samconfig.ReadTOML(text)
		var syntax *template.SyntaxError
		if err != nil && (!errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1) {
			t.Fatalf("%T: %v", err, err)
		}
		ReadConfig(textfile.File{Name: "samconfig.toml", Text: text})
	})
}

// fileOf returns a file of the repository.
func fileOf(t *testing.T, name string) []byte {
	t.Helper()
	return must.Read(t, "../../../../"+name)
}
