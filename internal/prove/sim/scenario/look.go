package scenario

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/tables"
)

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// scan reads a table, in the order of its keys.
func (w *world) scan(table string) ([]attributes, error) {
	out, err := w.Engine.DynamoDB().Scan(context.Background(), &dynamodb.ScanInput{TableName: &table})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(out.Items, func(a, b map[string]types.AttributeValue) int {
		return strings.Compare(text(a["PK"])+"\x00"+text(a["SK"]), text(b["PK"])+"\x00"+text(b["SK"]))
	})
	return out.Items, nil
}

// table runs the table command.
func (w *world) table(_ *arguments, out *report) error {
	items, err := w.scan(eventsTable)
	if err != nil {
		return err
	}
	for _, item := range items {
		row := []string{text(item["PK"])}
		if data := text(item["data"]); data != "" {
			row = append(row, "epoch "+text(item["epoch"]), "expires "+w.moment(item["expiresAt"]), data)
		} else {
			row = append(row, "not Ingot's")
		}
		out.row(row...)
	}
	return nil
}

func (w *world) moment(v types.AttributeValue) string {
	n, err := event.ParseDecimal(text(v))
	if err != nil {
		return "never"
	}
	seconds, _ := n.Int64()
	at := time.Unix(seconds, 0).UTC().Format("2006-01-02 15:04")
	if seconds <= w.Clock.Now().Unix() {
		at += " (past)"
	}
	return at
}

// totals runs the totals command.
func (w *world) totals(a *arguments, out *report) error {
	name := a.word()
	st, err := w.store("streams")
	if err != nil {
		return err
	}
	rows := map[string][]string{}
	for total, err := range st.Totals(context.Background()) {
		if err != nil {
			return err
		}
		if name != "" && total.Address.Name != name {
			continue
		}
		row := w.total(total)
		rows[row[0]] = row
	}
	for _, address := range sorted(rows) {
		out.row(rows[address]...)
	}
	return nil
}

func (w *world) total(t tables.StoredTotal) []string {
	def := aggregate.Definition{Name: t.Address.Name, Since: t.Address.Since}
	key := lanes.Key(&def, t.Address.Bucket, t.Address.By, t.Address.Window)
	var values []string
	for _, name := range sorted(t.Values) {
		values = append(values, name+" "+t.Values[name].String())
	}
	state := fmt.Sprintf("fp %s", short(t.FP.String(), 4))
	if !t.FPX.IsZero() {
		state += fmt.Sprintf(", of which expired %s", short(t.FPX.String(), 4))
	}
	if t.Flag != "" {
		state += ", flag: " + w.names.reason(t.Flag)
	}
	if t.ExpiresAt != 0 && t.ExpiresAt <= w.Clock.Now().Unix() {
		state += ", past its time"
	}
	return []string{w.names.address(key.PK, key.SK), fmt.Sprintf("n %d", t.N), strings.Join(values, ", "), state}
}

// marks runs the marks command.
func (w *world) marks(a *arguments, out *report) error {
	name := a.word()
	items, err := w.scan(totals)
	if err != nil {
		return err
	}
	for _, item := range items {
		address, ok := lanes.ParseKey(event.Key{PK: text(item["PK"]), SK: text(item["SK"])})
		if !ok || (name != "" && address.Name != name) {
			continue
		}
		var marks []string
		for attribute := range item {
			if mark, ok := item[attribute].(*types.AttributeValueMemberB); ok && strings.HasPrefix(attribute, lanes.MarkPrefix) {
				marks = append(marks, w.names.mark(mark.Value))
			}
		}
		slices.Sort(marks)
		out.row(w.names.address(text(item["PK"]), text(item["SK"])), strings.Join(marks, " "))
	}
	return nil
}

// digits runs the digits command. It prints one line for each shard and length.
func (w *world) digits(_ *arguments, out *report) error {
	seen := map[string][]string{}
	for number, name := range w.names.records {
		group := fmt.Sprintf("%s %d", name[:1], len(number))
		seen[group] = append(seen[group], name)
	}
	for _, group := range sorted(seen) {
		names := seen[group]
		slices.SortFunc(names, func(a, b string) int { return cmp.Or(len(a)-len(b), strings.Compare(a, b)) })
		shard, digits, _ := strings.Cut(group, " ")
		out.row("shard "+shard, names[0]+" to "+names[len(names)-1], digits+" digits")
	}
	return nil
}

// heads runs the heads command.
func (w *world) heads(_ *arguments, out *report) error {
	st, err := w.store("streams")
	if err != nil {
		return err
	}
	items, err := w.scan(totals)
	if err != nil {
		return err
	}
	for _, item := range items {
		if text(item["PK"]) == lanes.EpochKey.PK {
			out.linef("highest epoch seen: %s", text(item["epoch"]))
		}
	}
	for _, def := range w.plans["streams"].Definitions() {
		head, err := st.Head(context.Background(), def)
		if err != nil {
			return err
		}
		if head == nil {
			out.row(generation(def.Name, def.Since), "no head")
			continue
		}
		state := "complete"
		if head.Building {
			state = "building"
		}
		if head.Behind > 0 {
			state += fmt.Sprintf(", behind %d", head.Behind)
		}
		if head.Flag != "" {
			state += ", flag: " + w.names.reason(head.Flag)
		}
		out.row(generation(def.Name, def.Since), state)
	}
	return nil
}

// archive runs the archive command.
func (w *world) archive(_ *arguments, out *report) error {
	ctx := context.Background()
	list, err := w.Engine.S3().ListObjectsV2(ctx, &s3.ListObjectsV2Input{Bucket: aws.String(bucket)})
	if err != nil {
		return err
	}
	for _, object := range list.Contents {
		got, err := w.Engine.S3().GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(bucket), Key: object.Key})
		if err != nil {
			return err
		}
		body, err := io.ReadAll(got.Body)
		if err != nil {
			return err
		}
		out.row(shortName(*object.Key), short(string(body), 60))
	}
	return nil
}
