package check

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// migration.yaml is checked with the pipeline, and each mistake has its place.
func TestMigration(t *testing.T) {
	const file = `migration: 1
name: shop
from: {table: ShopV1}
rows: [{type: order.placed, payload: {order_id: "{orderId}", placed_at: "{@at}"}}]
`
	in := own{pipeline: [][2]string{{"  order.placed:\n", "  order.placed:\n    migrated: shop\n"}}}.input(t)
	for text, want := range map[string]string{
		strings.Replace(file, "{@at}", "{at}", 1): "",
		file: "migration.yaml:4:73: @at is not known of a row; write an attribute of the row, such as {userId}",
		strings.Replace(file, "order.placed,", "order.place,", 1): "migration.yaml:4:15: the pipeline has no event type order.place;",
		"rows: [": "migration.yaml:1:",
	} {
		in.Migration = &textfile.File{Name: "migration.yaml", Text: []byte(text)}
		r := run(t, in)
		if len(r.Findings) == 0 && want == "" {
			continue
		}
		if len(r.Findings) == 0 || want == "" || !strings.HasPrefix(r.Findings[0].String(), want) || r.Findings[0].Rule != "migration" {
			t.Errorf("%s\ngot  %v\nwant %s", text, r.Findings, want)
		}
	}
	two := own{pipeline: [][2]string{{"  order.placed:\n", "  order.placed:\n    migrated: shop\n"},
		{"  order.refunded:\n", "  order.refunded:\n    migrated: shop\n"}}}.input(t)
	two.Migration = &textfile.File{Name: "migration.yaml", Text: []byte(strings.Replace(file, "{@at}", "{at}", 1))}
	if r := run(t, two); len(r.Findings) != 1 || !strings.Contains(r.Findings[0].What, "no rows become order.refunded") {
		t.Errorf("a type that no row becomes: %v", r.Findings)
	}
	in.Migration, in.Pipeline.Text = &textfile.File{Name: "migration.yaml", Text: []byte(file)}, []byte("ingot: 2")
	if r := run(t, in); len(r.Findings) == 0 || r.Findings[0].Rule != "pipeline" {
		t.Errorf("under a pipeline that has mistakes: %v", r.Findings)
	}
}

// Of two migrations, a role must be allowed the control items of both.
func TestRightsOfTwoMigrations(t *testing.T) {
	o := own{pipeline: [][2]string{{"  order.placed:\n", "  order.placed:\n    migrated: shop\n"},
		{"  order.refunded:\n", "  order.refunded:\n    migrated: refunds\n"}}, template: [][2]string{{`["M#*"]`, `["M#shop"]`}}}
	r := run(t, o.input(t))
	if len(r.Findings) != 3 || !strings.Contains(r.Findings[2].What, "dynamodb:GetItem on AggregatesTable") {
		t.Errorf("with the rights for one of them: %v", r.Findings)
	}
	got := fmt.Sprint(r.Findings[:2])
	if strings.Count(got, "no file of that migration was checked") != 2 || r.Findings[0].Severity != rules.Warning {
		t.Errorf("of a type that waits for a migration without a file: %s", got)
	}
}
