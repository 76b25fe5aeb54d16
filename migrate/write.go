package migrate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/payloads"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

// write makes one copy equal to the row that has its key. Its copy was read before the rows were.
func (d *syncing) write(ctx context.Context, p *spot, items map[string][]*event.Item) {
	if token := rows.TextOf(p.cur[itemform.Migrated]); token != "" && slices.Contains(p.drawn, token) {
		p.done = true // an earlier try of this call has written it
		return
	}
	claims := d.claims(p, items)
	meets := func(count *int) {
		d.count(func(out *Synced) {
			*count++
			for _, c := range claims {
				out.met = append(out.met, c.row)
			}
		})
	}
	if rows.Barred(p.cur) && d.mode == lookOnly {
		p.done = true
		return
	}
	if rows.Barred(p.cur) {
		p.a = rows.Classify(d.takeBack(ctx, claims))
		p.done = p.a.Err == nil
		return
	}
	if d.foreign(p.cur) {
		p.done = true
		if len(claims) > 0 {
			meets(&d.out.Collisions)
		}
		return
	}
	also := []string{}
	for _, c := range claims[min(1, len(claims)):] {
		also = append(also, c.row)
	}
	also = also[:min(len(also), maxAlso)]
	if len(also) > 0 {
		meets(&d.out.Collisions)
	}
	if d.mayStay(p.cur, claims, also) {
		lost, err := d.lost(ctx, p.cur)
		if p.a = rows.Classify(err); !lost {
			p.done = err == nil
			return
		}
	}
	if d.mode == lookOnly {
		p.done = true
		meets(&d.out.Refused)
		return
	}
	img := rows.KeyImage(p.key)
	var item event.Item // a tombstone is of none
	if len(claims) > 0 {
		item = *claims[0].item
		item.Epoch = 0
		if d.turned.Load() { // what was an event stays counted
			item.Epoch = rows.IntegerOf(p.cur["epoch"])
		}
		if p.a = d.upload(ctx, &item); p.a.Err != nil {
			return
		}
		img = rows.Encode(&item)
		img[rowAttribute] = rows.Text(claims[0].row)
		if put := p.cur[rows.PutAttribute]; put != nil && d.turned.Load() {
			img[rows.PutAttribute] = put
		}
	}
	if len(also) > 0 {
		img[alsoAttribute] = &types.AttributeValueMemberSS{Value: also}
	}
	d.put(ctx, p, img, &item)
}

// claim is a row that has a key, and its item.
type claim struct {
	row  string
	item *event.Item
}

// claims returns the rows that have a key. The first is the one that the copy is of, if it still
// has it.
func (d *syncing) claims(p *spot, items map[string][]*event.Item) (list []claim) {
	own := d.rowOfCopy(p.cur)
	for _, name := range d.claimants(p) {
		for _, item := range items[name] {
			switch {
			case item.Key != p.key:
			case name == own:
				list = slices.Insert(list, 0, claim{name, item})
			default:
				list = append(list, claim{name, item})
			}
		}
	}
	return list
}

// foreign reports whether a key holds what no row became: an item that is not Ingot's, or one of a
// type that is not migrated. Nothing ever overwrites it.
func (s *Migration) foreign(cur rows.Image) bool {
	if len(cur) == 0 || cur[itemform.Migrated] != nil {
		return false
	}
	return !s.mapping.Becomes(rows.TextOf(cur["type"]))
}

// mayStay reports whether nothing needs to be written.
func (d *syncing) mayStay(cur rows.Image, claims []claim, also []string) bool {
	live := cur["type"] != nil
	expires := rows.IntegerOf(cur["expiresAt"])
	switch {
	case len(claims) == 0 && live && expires != 0 && expires <= d.store.Env.Now().Unix():
		return true // it is left to time to live
	case d.mode == Always:
		return false
	case len(claims) == 0:
		return !live
	}
	named := slices.Sorted(slices.Values(rows.TextsOf(cur[alsoAttribute])))
	return rows.TextOf(cur[rowAttribute]) == claims[0].row && slices.Equal(named, also) && d.sameImage(cur, claims[0].item)
}

// sameImage reports whether a copy says what an item says.
func (s *Migration) sameImage(cur rows.Image, item *event.Item) bool {
	return bytes.Equal(s.says(cur), s.saysItem(item))
}

// saysItem is what the copy of an item must say.
func (s *Migration) saysItem(item *event.Item) []byte {
	copied := *item
	copied.Epoch, copied.Put = 0, 0
	return s.says(rows.Encode(&copied))
}

// says returns all that an image says of its event, as text: each attribute but the marks of a
// migration, numbers by their value, the payload unpacked. It is nil for what is not a readable
// item.
//
// Once types have turned, an image may be an event of a producer, who spells a payload in another
// way, with an envelope. Then it is its type and time, its index keys, and its payload, digested.
func (s *Migration) says(img rows.Image) []byte {
	item, err := rows.Decode(img)
	if err != nil || item == nil {
		return nil
	}
	said := rows.KeyImage(item.Key)
	if s.turned.Load() {
		digest, err := s.mapping.Pipeline().Redigest(item.Type, item.Data)
		if err != nil {
			digest = item.Digest
		}
		said["type"], said["at"], said["digest"] = img["type"], rows.Text(keys.FormatTime(item.At)), rows.Binary(digest[:])
		for _, index := range item.Indexes {
			said[index.Name+"PK"], said[index.Name+"SK"] = rows.Text(index.Key.PK), rows.Text(index.Key.SK)
		}
	} else {
		maps.Copy(said, img)
		said["data"] = rows.Text(item.Data)
		for _, mark := range []string{itemform.Migrated, rowAttribute, alsoAttribute} {
			delete(said, mark)
		}
	}
	text, err := rowmap.JSON(said)
	if err != nil {
		return nil
	}
	doc, err := event.ParseDocument(string(text))
	if err != nil {
		return nil
	}
	return keys.Canonical(nil, doc.Root(), nil)
}

// lost reports whether a copy's payload should be in the payload bucket, and is not there. It asks
// for the object, and reads nothing of it: its name says what its bytes are.
func (s *Migration) lost(ctx context.Context, cur rows.Image) (bool, error) {
	if cur[itemform.Payload] == nil {
		return false, nil
	}
	item, err := rows.Decode(cur)
	if err != nil || item == nil || item.Payload == nil {
		return false, nil // then it is compared as what it is
	}
	if s.bucket == nil {
		return false, noBucket(item)
	}
	_, err = s.bucket.GetWithin(ctx, s.store.Env, item.Type, item.Key, item.Payload.Sum, func(int64) bool { return false })
	switch {
	case errors.Is(err, payloads.ErrNoRoom):
		return false, nil
	case payloads.Lost(err):
		return true, nil
	}
	return false, err
}

// lostOf returns the keys of those copies that are lost.
func (s *Migration) lostOf(ctx context.Context, list []rows.Image) (map[event.Key]bool, error) {
	list = slices.DeleteFunc(slices.Clone(list), func(img rows.Image) bool {
		return img[itemform.Payload] == nil || !s.mapping.Becomes(rows.TextOf(img["type"]))
	})
	is, errs := make([]bool, len(list)), make([]error, len(list))
	s.store.Env.Each(len(list), rows.MostPace, func(i int) { is[i], errs[i] = s.lost(ctx, list[i]) })
	lost := map[event.Key]bool{}
	for i, img := range list {
		if is[i] {
			lost[rows.KeyOf(img)] = true
		}
	}
	return lost, errors.Join(errs...)
}

func noBucket(item *event.Item) error {
	return fmt.Errorf("%s has offload, and no payload bucket is configured", item.Type)
}

// put writes an image on condition that the copy is as it was read, and that nobody has erased it.
func (d *syncing) put(ctx context.Context, p *spot, img rows.Image, of *event.Item) {
	token := d.draw()
	img[itemform.Migrated] = token
	in := &dynamodb.PutItemInput{TableName: &d.store.Events, Item: img, ConditionExpression: aws.String("attribute_not_exists(PK)")}
	if len(p.cur) > 0 {
		in.ExpressionAttributeNames = map[string]string{"#m": itemform.Migrated, "#b": rows.BarredAttribute}
		if seen := p.cur[itemform.Migrated]; seen != nil {
			in.ConditionExpression = aws.String("#m = :seen AND attribute_not_exists(#b)")
			in.ExpressionAttributeValues = rows.Image{":seen": seen}
		} else {
			in.ConditionExpression = aws.String("attribute_exists(PK) AND attribute_not_exists(#m) AND attribute_not_exists(#b)")
		}
	}
	p.drawn = append(p.drawn, token.Value)
	_, err := d.store.Client.PutItem(ctx, in, rows.InTime(of))
	p.a = rows.Classify(err)
	d.store.Pace.Learn(p.a)
	switch p.a.Outcome {
	case rows.Invalid: // the table would never take it: the other rows of the call go on
		p.done = true
		return
	case rows.Done:
		p.done = true
	default:
		return
	}
	d.count(func(out *Synced) {
		if out.Written++; img["type"] == nil {
			out.Tombstones++
		}
	})
}

// draw returns a text that no other write has.
func (s *Migration) draw() *types.AttributeValueMemberS {
	half := func() string { return strconv.FormatInt(int64(s.store.Env.Rand()*(1<<53)), 36) }
	return &types.AttributeValueMemberS{Value: half() + "-" + half()}
}

// upload puts the payload of an item into the payload bucket, before the item.
func (d *syncing) upload(ctx context.Context, item *event.Item) rows.Answer {
	if item.Payload == nil {
		return rows.Answer{}
	}
	if d.bucket == nil {
		return rows.Answer{Outcome: rows.Refused, Err: noBucket(item)}
	}
	return rows.Classify(d.bucket.Put(ctx, d.store.Env, item.Type, item.Key, item.Payload.Sum, item.Payload.Text))
}

// takeBack deletes the payloads that earlier tries may have put for a key that is barred.
func (d *syncing) takeBack(ctx context.Context, claims []claim) error {
	for _, c := range claims {
		if c.item.Payload == nil || d.bucket == nil {
			continue
		}
		if err := d.bucket.Delete(ctx, d.store.Env, c.item.Type, c.item.Key, c.item.Payload.Sum); err != nil {
			return err
		}
	}
	return nil
}
