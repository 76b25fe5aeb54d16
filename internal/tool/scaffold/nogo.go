package scaffold

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/pipeline"
)

// Releases is where the files of releases are.
const Releases = "https://" + Ingot + "/releases"

// NoGo returns the files of a repository without Go code: SAM deploys the functions of a release,
// with pipeline.yaml in a layer. sample is as in [Repository.Files].
func (r *Repository) NoGo(sample fs.FS) ([]File, error) {
	if schemas := slices.Sorted(maps.Values(pipeline.SchemaFiles(r.pipeline))); len(schemas) > 0 {
		return nil, fmt.Errorf("%s names %s, and --no-go deploys no file beside it: leave --no-go out, or write the schema into it",
			r.name, schemas[0])
	}
	list, err := r.Files(sample)
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(f File) bool { return strings.HasSuffix(f.Name, ".go") || f.Name == "go.mod" })
	from := Releases + "/latest/download"
	if r.version != "" {
		from = Releases + "/download/" + r.version
	}
	for i, f := range list {
		switch f.Name {
		case "template.yaml":
			if list[i].Text, err = layered(f.Text); err != nil {
				return nil, err
			}
		case "README.md":
			list[i].Text = r.fill("nogo.README.md.tmpl", map[string]string{"Version": cmp.Or(r.version, "the newest release")})
		case "Makefile":
			list[i].Text = r.fill("nogo.Makefile.tmpl", map[string]string{"From": from})
		case ".github/workflows/ci.yml":
			list[i].Text = r.fill("nogo.ci.yml", map[string]string{"From": from})
		case ".gitignore":
			list[i].Text = append(list[i].Text, "/functions/\n"...)
		}
	}
	return list, nil
}

// layered makes both functions of a template those of a release, which read pipeline.yaml from a
// layer.
func layered(template []byte) ([]byte, error) {
	text := string(template)
	for _, c := range []struct{ old, new string }{
		{"\n  Function:\n", "\n  Function:\n    Layers: [!Ref Pipeline]\n"},
		{"\n        INGOT_COUNTING: !Ref Counting\n", "\n        INGOT_COUNTING: !Ref Counting\n        INGOT_PIPELINE: /opt/pipeline.yaml\n"},
		{"\nResources:\n", "\nResources:\n  Pipeline:\n    Type: AWS::Serverless::LayerVersion\n" +
			"    Properties: {ContentUri: pipeline.yaml}\n\n"},
		{"    Metadata: {BuildMethod: go1.x}\n    Properties:\n      CodeUri: cmd/streams/\n",
			"    Properties:\n      CodeUri: functions/streams.zip\n"},
		{"    Metadata: {BuildMethod: go1.x}\n    Properties:\n      CodeUri: cmd/ingest/\n",
			"    Properties:\n      CodeUri: functions/ingest.zip\n"},
	} {
		if strings.Count(text, c.old) != 1 {
			return nil, errors.New("the sample's template.yaml does not have once: " + c.old)
		}
		text = strings.Replace(text, c.old, c.new, 1)
	}
	return []byte(text), nil
}
