package moving

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/prove/sim/stage"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate"
	"github.com/ingot-events/ingot/tables"
)

// claim is what a row should have in the new table.
type claim struct {
	row  string
	item *event.Item
}

// check compares the two tables as they are. It shares only the mapping with the code under test.
func (w *world) check() {
	claims := map[string][]claim{}
	found := map[string]string{}
	for _, row := range w.all(w.old.Table) {
		found[rowText(row)] = number(row["spent"])
		for _, item := range w.items(row) {
			key := item.Key.PK + " " + item.Key.SK
			claims[key] = append(claims[key], claim{rowText(row), item})
		}
	}
	for name, version := range w.wrote {
		if found[name] != version {
			w.Fail(Lost, "the old table is the source, and its row %s is version %q: %q was written", name, found[name], version)
		}
	}
	def, _ := w.pipeline.Definition("users")
	head, err := w.store().Head(iam.As(context.Background(), nil), def)
	if err == nil && head != nil && (head.Behind > 0 && !w.returned || head.Building) {
		w.Fail(stage.Generation, "before the turn, %s is behind %d times, and building: %t", def, head.Behind, head.Building)
	}
	items := map[string]migrate.Row{}
	for _, img := range w.all(stack.Events) {
		items[keyText(img)] = img
	}
	for key, img := range items {
		switch {
		case img["i:barred"] != nil || img["type"] == nil || w.expiring(rows.IntegerOf(img["expiresAt"])):
		case w.erased[key]:
			w.Fail(Returned, "%s was erased, and holds %v", key, img)
		case len(claims[key]) == 0:
			w.Fail(Revived, "no row has the key %s, and an item is there: %s", key, text(img["data"]))
		}
	}
	for key, list := range claims {
		img := items[key]
		if img["i:barred"] != nil {
			continue
		}
		at := slices.IndexFunc(list, func(c claim) bool { return img != nil && text(img["data"]) == c.item.Data })
		if at < 0 {
			w.Fail(Stale, "%s holds %q, and its row says %q", key, text(img["data"]), list[0].item.Data)
			continue
		}
		if number(img["epoch"]) != "0" && !w.returned {
			w.Fail(Stale, "%s carries epoch %s", key, number(img["epoch"]))
		}
		also, _ := img["i:also"].(*types.AttributeValueMemberSS)
		if named := also != nil && len(also.Value) == len(list)-1; len(list) > 1 && !named || len(list) == 1 && also != nil {
			w.Fail(Unnamed, "%d rows have the key %s, and the item names %v", len(list), key, also)
		}
	}
}

// items returns what a row becomes, unless that expires soon.
func (w *world) items(row migrate.Row) []*event.Item {
	return slices.DeleteFunc(w.mapping.Map(row).Items, func(item *event.Item) bool { return w.expiring(item.ExpiresAt) })
}

func (w *world) expiring(at int64) bool {
	return at-int64(tables.ExpiryMargin/time.Second) <= w.Now.Unix()
}

func number(v types.AttributeValue) string {
	n, _ := v.(*types.AttributeValueMemberN)
	if n == nil {
		return ""
	}
	return n.Value
}

// all reads a table.
func (w *world) all(table string) []migrate.Row {
	out, err := w.engine.DynamoDB().Scan(context.Background(), &dynamodb.ScanInput{TableName: &table})
	w.Must(err)
	return out.Items
}
