package docs

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/tool/check"
	"github.com/ingot-events/ingot/internal/tool/migrate"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/pipeline"
)

// The example of the page compiles without a finding, and its row becomes what the page says. The
// row would come back.
func TestMigrationOfThePage(t *testing.T) {
	const page = "docs/migrating.md"
	one := func(info string) string {
		t.Helper()
		list := blocksOf(t, page, info)
		if len(list) != 1 {
			t.Fatalf("%d blocks of %q", len(list), info)
		}
		return list[0].text
	}
	files := fstest.MapFS{"pipeline.yaml": {Data: []byte(one("yaml pipeline"))}, "migration.yaml": {Data: []byte(one("yaml migration"))}}
	r := checked(t, check.Input{Pipeline: *named("pipeline.yaml", one("yaml pipeline")),
		Migration: named("migration.yaml", one("yaml migration"))})
	must.Equal(t, len(r.Findings), 0, r)
	p, err := pipeline.Load(files, "pipeline.yaml")
	must.Succeed(t, err)
	m, err := rowmap.Load(files, "migration.yaml", p)
	must.Succeed(t, err)
	row, err := migrate.ReadRow([]byte(one("json row")))
	must.Succeed(t, err)
	var out strings.Builder
	migrate.Explain(m.Map(row)).Write(&out)
	must.Equal(t, out.String(), one("text explained"))
}
