package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/local/embedded"
	"github.com/ingot-events/ingot/internal/local/stack"
	tablearchive "github.com/ingot-events/ingot/internal/table/archive"
	"github.com/ingot-events/ingot/internal/tool/archive"
)

// TestDuckDB reads files of the archive with the statement of docs/erasing.md, which must find the
// events that `ingot archive read` finds: each once, though batches were delivered again and cut
// differently.
func TestDuckDB(t *testing.T) {
	python := installed(t, "duckdb", "DuckDB", "scripts/duckdb.sh")
	bucket := archive.Bucket{S3: embedded.New(embedded.Config{}).S3(), Name: "archive"}
	must.Succeed(t, stack.CreateArchive(t.Context(), bucket.S3.(stack.Buckets), bucket.Name))
	dir := t.TempDir()
	var expired []*event.Change
	for i := range 40 {
		image := fmt.Sprintf(`{"PK":{"S":"ORDER#%d"},"SK":{"S":"-"},"at":{"S":"2026-01-01T00:00:%02d.000000000Z"},`+
			`"data":{"S":"{\"id\":\"ü%d\"}"},`+
			`"digest":{"B":"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE="},"epoch":{"N":"1"},"expiresAt":{"N":"1"},"id":{"S":"%d"},`+
			`"type":{"S":"order"}}`, i, i, i, i)
		n, err := event.ParseSequence(fmt.Sprintf("1000000000000000000%02d", i))
		must.Succeed(t, err)
		expired = append(expired, &event.Change{Sequence: n, Created: time.Date(2026, 3, 1, 22, i*5, 0, 0, time.UTC), OldImage: image})
	}
	for _, batch := range [][2]int{{0, 17}, {5, 23}, {17, 40}, {30, 40}, {0, 17}} {
		name, body, err := tablearchive.File(expired[batch[0]:batch[1]])
		must.Succeed(t, err)
		in := &s3.PutObjectInput{Bucket: &bucket.Name, Key: &name, Body: strings.NewReader(body)}
		_, err = bucket.S3.PutObject(t.Context(), in)
		must.Succeed(t, err)
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Succeed(t, os.MkdirAll(filepath.Dir(path), 0o750))
		must.Write(t, path, body)
	}
	var want []string
	for item, err := range bucket.Read(t.Context(), archive.Days{}) {
		must.Succeed(t, err)
		want = append(want, item.Event.Key.PK+" "+item.Event.Data)
	}
	page := must.Read(t, "../docs/erasing.md")
	_, statement, _ := strings.Cut(string(page), "```sql duckdb\n")
	statement, _, _ = strings.Cut(statement, "```")
	statement = strings.NewReplacer("INSTALL httpfs; LOAD httpfs;", "", "s3://BUCKET", dir).Replace(statement)
	const script = `import duckdb, json, sys
for row in duckdb.sql(sys.argv[1]).fetchall(): print(json.dumps(row))`
	out, err := exec.CommandContext(t.Context(), filepath.Join(python, "python"), "-c", script, statement).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var got []string
	for line := range strings.Lines(string(out)) {
		var row []string
		if err := json.Unmarshal([]byte(line), &row); err != nil || len(row) != 5 {
			t.Fatalf("%v, %s", err, line)
		}
		got = append(got, row[1]+" "+row[4])
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) != 40 || !slices.Equal(got, want) {
		t.Errorf("ingot reads %d events, and DuckDB %d: %q", len(want), len(got), got)
	}
}
