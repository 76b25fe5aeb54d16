package main

import (
	"github.com/ingot-events/ingot/internal/prove/sim"
	"github.com/ingot-events/ingot/internal/prove/sim/moving"
)

// moves returns wrong ways to move a live table.
func moves() []Mutant {
	copies := []sim.Check{moving.Stale, moving.Revived, moving.Unnamed}
	list := []Mutant{
		{
			Name: "no-tombstone", What: "a key whose row is gone keeps nothing", Defends: "P18",
			Checks: copies, Seeds: 4 * mostSeeds,
			Edits: edit("migrate.syncing.mayStay", `case d.mode == Always:`, `case len(claims) == 0 && !live: return true
	case d.mode == Always:`),
		},
		{
			Name: "capture-writes-differences", What: "capture writes only what differs", Defends: "P18",
			Checks: copies, Seeds: 2 * mostSeeds,
			Edits: edit("migrate.Migration.inPieces", `s.Do(ctx, Always, list[at:at+n])`, `s.Do(ctx, IfDifferent, list[at:at+n])`),
		},
		{
			Name: "any-copy-is-replaced", What: "a copy is replaced though it has changed since it was read", Defends: "P18",
			Checks: copies,
			Edits: []Edit{{"migrate.syncing.put", `aws.String("#m = :seen AND attribute_not_exists(#b)")`,
				`aws.String("attribute_exists(#m) AND attribute_not_exists(#b)")`},
				{"migrate.syncing.put", `in.ExpressionAttributeValues = rows.Image{":seen": seen}`, ``}},
		},
		{
			Name: "one-token", What: "all copies have the same token", Defends: "P18",
			Checks: copies,
			Edits:  edit("migrate.Migration.draw", ``, `if s != nil { return &types.AttributeValueMemberS{Value: "1"} }`),
		},
		{
			Name: "pass-overwrites", What: "the first pass overwrites what is there", Defends: "P18",
			Checks: copies, Plain: true,
			Edits: edit("migrate.Pass.insertChunk", `responses, err = p.sync.store.Execute(ctx, statements)
			return err`,
				`for _, in := range chunk {
				if err := overwrite(ctx, p.sync, in.row, in.item); err != nil { return err }
			}
			responses = make([]types.BatchStatementResponse, len(statements)); return nil`),
			Helpers: []Helper{{"migrate", `import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

func overwrite(ctx context.Context, s *Migration, row Row, of *event.Item) error {
	item := *of
	item.Epoch = 0
	img := rows.Encode(&item)
	img[itemform.Migrated], img[rowAttribute] = s.draw(), rows.Text(rowmap.NameOf(row, s.old.Keys))
	_, err := s.store.Client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.store.Events, Item: img})
	return err
}
`}},
		},
		{
			Name: "one-look", What: "what differs at one look is a difference", Defends: "P18",
			Checks: checks(moving.Missed),
			Edits:  edit("migrate.comparison.judge", `look == looks-1`, `look == 0`),
		},
		{
			Name: "looks-without-waiting", What: "the looks do not wait for capture", Defends: "P18",
			Checks: checks(moving.Missed),
			Edits:  edit("migrate.comparison.lookAgain", `if look > 0 {`, `if look < 0 {`),
		},
		{
			Name: "one-empty-answer", What: "an answer without records is taken for the end of a shard", Defends: "P18",
			Checks: checks(moving.Missed),
			Edits:  edit("tool/migrate.reading.read", `if s.ended = s.iterator == nil;`, `if s.ended = true;`),
		},
		{
			Name: "capture-after-the-turn", What: "capture does not ask which side is the source", Defends: "P18",
			Checks: checks(moving.Lost, moving.Revived), Plain: true,
			Edits: edit("migrate.Migration.standing", `case s.are(c, Old):`, `case s != nil:`),
		},
		{
			Name: "turn-waits-for-nobody", What: "a turn does not wait for the batches of capture", Defends: "P18",
			Checks: checks(moving.Lost, moving.Revived, moving.Missed), Seeds: 2 * mostSeeds,
			Edits: edit("migrate.Migration.Turn", `s.store.Env.Sleep(ctx, turnWait)`, `s.store.Env.Sleep(ctx, 0)`),
		},
		{
			Name: "one-stream-on-the-way-back", What: "after the turn, the old table's own stream is not read", Defends: "P19", Plain: true,
			Checks: checks(moving.Behind, moving.Undying, moving.Missed),
			Edits:  edit("migrate.Capture.copy", `done.Synced = s.bring(ctx, IfDifferent, list, nil)`, ``),
		},
		{
			Name: "source-created-anew", What: "nobody asks whether the source is still the table that it was", Defends: "P18", Plain: true,
			Checks: checks(moving.Emptied),
			Edits:  edit("migrate.Migration.unchanged", `now != id`, `now == ""`),
		},
		{
			Name: "back-without-draining", What: "the old table is the source before it has what was stored last",
			Defends: "P19", Plain: true,
			Checks: checks(moving.Behind, moving.Undying, moving.Lost),
			Edits:  edit("migrate.Migration.Back", `c.Captured.Before(until)`, `until.IsZero()`),
		},
		{
			Name: "messages-on-the-way-back", What: "messages are stored until the old table is the source", Defends: "P19", Plain: true,
			Checks: checks(moving.Behind, moving.Undying, moving.Lost),
			Edits:  edit("put.Stages.gate", `known[migration][item.Type] != rows.New`, `known[migration][item.Type] == ""`),
		},
		{
			Name: "returned-event-without-a-row", What: "an event that has come back does not say which row it belongs to",
			Defends: "P19", Plain: true,
			Checks: checks(moving.Unnamed, moving.Stale, moving.Missed, moving.Undying),
			Edits:  edit("migrate.Migration.rowOfCopy", `name != "" || !s.mapping.GoesBack()`, `name != "" || s != nil`),
		},
		{
			Name: "evidence-outlives-a-collision", What: "a row that stands against a turn, after a comparison, is not noted",
			Defends: "P18",
			Checks:  checks(moving.Lost, moving.Behind, moving.Undying, moving.Missed, moving.Unnamed),
			Edits:   edit("migrate.Migration.noteUntidy", ``, `if s != nil { return nil };`),
		},
		{
			Name: "met-and-not-looked-at", What: "a turn does not look at the rows that capture has met", Defends: "P18",
			Checks: checks(moving.Lost, moving.Behind, moving.Undying, moving.Missed, moving.Unnamed),
			Edits:  edit("migrate.Migration.untidy", `range c.met`, `range c.met[:0]`),
		},
		{
			Name: "retire-while-it-changes", What: "a migration is over though the old table is still written", Defends: "P18", Plain: true,
			Checks: checks(moving.Lost),
			Edits:  edit("migrate.Migration.Retire", `err == nil && n > 0`, `err == nil && n < 0`),
		},
		{
			Name: "refused-rows-pass", What: "a comparison that finds refused rows is clean", Defends: "P18", Plain: true,
			Checks: checks(moving.Missed, moving.Early),
			Edits:  edit("migrate.Compared.Clean", `c.Refused`, `0`),
		},
		{
			Name: "types-stripped", What: "on the way back, numbers become texts", Defends: "P19", Plain: true,
			Checks: checks(moving.Behind, moving.Missed),
			Edits:  edit("rowmap.attributeOf", `return rows.Number(n.Raw()), nil`, `return rows.Text(n.Raw()), nil`),
		},
		{
			Name: "tombstones-expire", What: "a tombstone expires while its migration goes on", Defends: "P18",
			Checks: checks(moving.Revived), Seeds: 2 * mostSeeds,
			Edits: edit("migrate.syncing.put", `img[itemform.Migrated] = token`, `img[itemform.Migrated] = token
	if img["type"] == nil {
		img["expiresAt"] = rows.Integer(d.store.Env.Now().Unix() + 60)
	}`),
		},
		{
			Name: "tombstone-holds-its-key", What: "a tombstone holds its key against producers", Defends: "P18",
			Checks: checks(sim.Undeserved),
			Plain:  true,
			Edits: []Edit{{"plain.put.meet", `case known.Tombstone && p.store.Pipeline.Migration(w.item.Type) != "":`, `case false:`},
				{"rows.FreeKey", `if !migrated`, `if migrated || !migrated`}},
		},
		{
			Name: "count-as-proof", What: "as many copies as rows count as a proof", Defends: "P18",
			Checks: checks(moving.Missed), Plain: true,
			Edits: edit("migrate.comparison.finish", `if err := c.lookAgain(ctx, lag); err != nil {`,
				`if c.out.Rows-c.out.Skipped-c.out.Expired-c.out.Refused == c.out.Copies {
		clear(c.suspect)
	}
	if err := c.lookAgain(ctx, lag); err != nil {`),
		},
		{
			Name: "later-pass-reads-rows-alone", What: "a later pass does not look at the copies", Defends: "P18",
			Checks: copies, Plain: true,
			Edits: edit("migrate.Pass.Run", `if p.first {`, `if p != nil {`),
		},
		{
			Name: "refused-insert-is-done", What: "what the first pass meets under a key is taken for its own", Defends: "P18",
			Checks: copies, Plain: true,
			Edits: edit("migrate.Pass.insertChunk", `met = append(met, in.row)`, `_ = in`),
		},
		{
			Name: "other-rows-unread", What: "the other rows that an item names are not read", Defends: "P18",
			Checks: copies,
			Plain:  true,
			Edits:  edit("migrate.syncing.claimants", `list = append(list, rows.TextsOf(p.cur[alsoAttribute])...)`, ``),
		},
		{
			Name: "copies-are-events", What: "copies are events before their turn", Defends: "P18",
			Checks: append(copies, moving.Early),
			Plain:  true,
			Edits:  edit("walk.copies", `return state == ""`, `return state == "none"`),
		},
		{
			Name: "half-a-turn", What: "a turn does not say that the totals must be built", Defends: "P18",
			Checks: checks(sim.Generation),
			Plain:  true,
			Edits: edit("migrate.Migration.turning", `for _, d := range fed {
		list`, `for _, d := range fed[:0] {
		list`),
		},
		{
			Name: "deletes-ignored", What: "a row that is gone keeps its copy", Defends: "P18",
			Checks: copies, Plain: true,
			Edits: edit("migrate.syncing.mayStay", ``, `if len(claims) == 0 { return true };`),
		},
		{
			Name: "moved-row-keeps-its-copy", What: "capture looks at the key that a row has now", Defends: "P18",
			Checks: copies, Plain: true,
			Edits: edit("migrate.streamBatch.changes", `r.DynamoDB.OldImage, r.DynamoDB.NewImage`, `r.DynamoDB.NewImage`),
		},
		{
			Name: "second-row-forgotten", What: "an item names one row, however many claim its key", Defends: "P18",
			Checks: copies, Plain: true,
			Edits: edit("migrate.syncing.write", `also = also[:min(len(also), maxAlso)]`, `also = also[:0]`),
		},
		{
			Name: "stored-before-the-turn", What: "messages are stored before their type has turned", Defends: "P18",
			Checks: append(copies, moving.Early), Plain: true,
			Edits: edit("put.Stages.gate", ``, `if b != nil { return };`),
		},
		{
			Name: "copies-are-behind", What: "each copy says that its totals are behind", Defends: "P18",
			Checks: checks(sim.Generation),
			Plain:  true,
			Edits: edit("handler.streamBatch.contributions", `!(item.Epoch == 0 && b.pipeline.Migration(item.Type) != "")`,
				`item.Epoch >= 0`),
		},
	}
	for i := range list {
		list[i].Worlds = "moving"
	}
	return list
}
