package repair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/plan/lifetime"
	"github.com/ingot-events/ingot/internal/table/plain"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// erasure is an event that is being erased.
type erasure struct {
	*Repairer
	key   event.Key
	found []*event.Item // parts that the caller has found
	all   bool          // no others are stored
	look  bool          // nothing is to be changed

	known  rows.Image // what the key held when it was read last
	typ    string     // the type of the event, once one was read there
	whole  *event.Item
	parts  []*event.Item
	erased bool
}

// run erases the event, except for its payloads.
func (e *erasure) run(ctx context.Context) error {
	if e.stages.Events == "" {
		return errors.New("erase: Config.Events names no table: set it to the events table")
	}
	err := e.stages.Generations.SameSecret(ctx)
	if err == nil {
		err = e.stages.Retry(ctx, e.try)
	}
	if err != nil {
		return fmt.Errorf("erase %s: %w", e.key, err)
	}
	return nil
}

// lookUp reads the attributes that decide how the key is barred, and refuses an item that cannot be
// erased. It reads consistently, because the bar takes its expiry from the stored item.
func (e *erasure) lookUp(ctx context.Context) rows.Answer {
	out, err := e.stages.Client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &e.stages.Events, Key: rows.KeyImage(e.key),
		ConsistentRead:       aws.Bool(true),
		ProjectionExpression: aws.String("PK, #t, #r, #e, #b, #p, #n, #m"),
		ExpressionAttributeNames: map[string]string{"#t": "type", "#r": "revision", "#e": "expiresAt", "#b": rows.BarredAttribute,
			"#p": itemform.Payload, "#n": rows.PartsAttribute, "#m": itemform.Migrated}})
	if err != nil {
		return rows.Classify(err)
	}
	e.known = out.Item
	typ := rows.TextOf(e.known["type"])
	owner, claim := e.stages.Pipeline.ClaimOf(typ)
	author, state := e.stages.Pipeline.StateOf(typ)
	switch {
	case rows.Barred(e.known):
		return rows.Answer{}
	case len(e.known) > 0 && typ == "" && !rows.Tombstone(e.known):
		err = errors.New("the key holds an item that is not Ingot's; nothing was changed")
	case e.stages.Payloads == nil && (e.stages.Pipeline.UsesOffload() || e.known[itemform.Payload] != nil):
		err = fmt.Errorf("payloads of its key may be in the payload bucket: %w", plain.ErrNoBucket)
	case claim:
		err = fmt.Errorf("the key holds a claim, which is erased with its whole alone: erase the %s that holds it%s", owner, e.wholeOf(ctx))
	case state:
		err = fmt.Errorf("the key holds a state, which is erased with its whole alone: erase the %s that wrote it%s", author,
			e.wholeOf(ctx))
	}
	if e.typ = typ; err != nil {
		return rows.Answer{Outcome: rows.Invalid, Err: err}
	}
	return rows.Answer{}
}

// wholeOf says under which key the whole of the part that is stored under the key is. It is empty
// if the part does not show that.
func (e *erasure) wholeOf(ctx context.Context) string {
	part, err := e.stages.Item(ctx, e.key)
	if err != nil || part == nil {
		return ""
	}
	if whole := e.stages.Pipeline.WholeOf(part); whole != nil {
		return ", under the key " + whole.Key.String()
	}
	return ""
}

// try erases the event, with one look at what the key holds.
func (e *erasure) try(ctx context.Context) (rows.Answer, rows.Next) {
	if a := e.lookUp(ctx); a.Outcome != rows.Done {
		return a, rows.Later
	}
	if a := e.findParts(ctx); a.Outcome != rows.Done {
		return a, rows.Later
	}
	if e.look {
		return rows.Answer{}, rows.Ended
	}
	var released []*event.Item
	for _, part := range e.parts {
		if _, claim := e.stages.Pipeline.ClaimOf(part.Type); claim || isState(part) {
			released = append(released, part)
			continue
		}
		if _, err := e.EraseWith(ctx, part.Key, nil, true); err != nil {
			return rows.Answer{Outcome: rows.Unknown, Err: err}, rows.Later
		}
	}
	switch {
	case len(released) >= rows.MaxTransaction:
		err := fmt.Errorf("it has %d claims and states, and a transaction removes at most %d; remove the others by hand first",
			len(released), rows.MaxTransaction-1)
		return rows.Answer{Outcome: rows.Invalid, Err: err}, rows.Later
	case rows.Barred(e.known) && len(released) == 0:
		return rows.Answer{}, rows.Ended
	}
	e.erased = e.erased || e.typ != ""
	switch a := e.bar(ctx, e.barring(), releases(released)); a.Outcome {
	case rows.Done:
		return a, rows.Ended
	case rows.Failed: // the item has changed since it was read
		return rows.Answer{Outcome: rows.Contended, Err: a.Err}, rows.Later
	default:
		return a, rows.Later
	}
}

// findParts finds the event that is stored under the key, if it has parts, and its parts: those
// that the caller has found, and those that the pipeline makes. It refuses a whole some of whose
// parts are not found.
func (e *erasure) findParts(ctx context.Context) rows.Answer {
	typ, count := rows.TextOf(e.known["type"]), int(rows.IntegerOf(e.known[rows.PartsAttribute]))
	if e.whole, e.parts = nil, slices.Clone(e.found); typ == "" || !e.stages.Pipeline.HasParts(typ) && count == 0 {
		return rows.Answer{}
	}
	whole, err := e.stages.Item(ctx, e.key)
	if err != nil {
		return asked(err)
	}
	if whole == nil || whole.Type != typ {
		return rows.Answer{Outcome: rows.Contended, Err: errors.New("the item has changed since it was read")}
	}
	again, lost := e.stages.WithPayload(ctx, whole) // the item may lack what its parts need today
	switch {
	case lost == nil:
		whole = again
	case !errors.Is(lost, tables.ErrPayloadLost):
		return asked(lost)
	}
	e.whole = whole
	made, why := e.stages.Pipeline.Parts(whole)
	for _, part := range made {
		if !slices.ContainsFunc(e.found, func(p *event.Item) bool { return p.Key == part.Key }) {
			e.parts = append(e.parts, part)
		}
	}
	if e.all {
		return rows.Answer{}
	}
	stored, err := e.count(ctx)
	switch {
	case err != nil:
		return asked(err)
	case stored < count, why != nil && lost != nil: // without a count, a whole has what its payload makes
		return rows.Answer{Outcome: rows.Invalid, Err: notFound(count, stored, cmp.Or(lost, why))}
	}
	return rows.Answer{}
}

// asked returns the answer to a read that has been repeated as long as that helps.
func asked(err error) rows.Answer { return rows.Answer{Outcome: rows.Refused, Err: err} }

// isState reports whether a part is a state: no other part has a revision.
func isState(part *event.Item) bool { return part.Revision != nil }

// count returns how many of the parts are stored, barred, or so old that they may have expired. It
// leaves out states, as i:parts does: those of other events may have replaced them.
func (e *erasure) count(ctx context.Context) (n int, err error) {
	owner, now := map[*event.Item]*event.Item{}, e.stages.Env.Now()
	for chunk := range slices.Chunk(slices.DeleteFunc(slices.Clone(e.parts), isState), rows.MaxKeys) {
		for _, part := range chunk {
			owner[part] = e.whole
		}
		absent, _, err := e.absent(ctx, chunk, owner)
		if err != nil {
			return 0, fmt.Errorf("reading its parts: %w", err)
		}
		absent = slices.DeleteFunc(absent, func(part *event.Item) bool { return tables.TooLate(part, now) })
		n += len(chunk) - len(absent)
	}
	return n, nil
}

// notFound says that parts are not found, and what to do. why says why the pipeline makes none.
func notFound(count, stored int, why error) error {
	text := "If its message is being stored, erase it again when that is over. Otherwise run"
	if why != nil {
		text = fmt.Sprintf("This pipeline.yaml cannot make them: %v. Run", why)
	}
	return fmt.Errorf(
		"its parts are not all found: %d were stored with it (i:parts), and %d are under the keys that this pipeline.yaml makes. "+
			"Nothing was changed. %s ingot erase with --scan, which looks for them in the whole table", count, stored, text)
}

// folders returns the types under which payloads of the key may be in the payload bucket.
func (e *erasure) folders() []string {
	switch folders := e.stages.Pipeline.OffloadTypes(); {
	case e.stages.Payloads == nil:
		return nil
	case e.typ == "": // nobody knows the event's type any more, and that type may have lost its offload
		return slices.Sorted(maps.Keys(e.stages.Pipeline.Describe().Spec.Events))
	case slices.Contains(folders, e.typ):
		return folders
	default: // it may have had offload, or a copy of it may
		return append(folders, e.typ)
	}
}

// mayBeLeft returns the types of parts that may still be stored although no event is under the key.
// A bar that expires has replaced an event with its parts.
func (e *erasure) mayBeLeft() []string {
	if e.all || e.typ != "" || e.known["expiresAt"] != nil {
		return nil
	}
	return outliving(e.stages.Pipeline.Describe().Spec, e.key)
}

// outliving returns the types of parts that may still be stored when the event with this key has
// expired: those that have a longer retain than their whole, or had one. It looks at every type
// that may have such a key.
func outliving(spec pipeline.Spec, key event.Key) (names []string) {
	may := func(template, text string) bool {
		t, err := keys.ParseTemplate(template)
		return err == nil && t.CheckMade(text) == nil
	}
	for name, part := range spec.Events {
		whole, is := spec.Events[part.Part.Of]
		if !is || part.Retain == 0 && len(part.Was) == 0 { // without retain, a part has that of its whole
			continue
		}
		times := []time.Time{{}, time.Unix(math.MaxInt32, 0)}
		for _, w := range append(slices.Clone(part.Was), whole.Was...) {
			times = append(times, w.Before.Add(-1))
		}
		longer := func(at time.Time) bool { return lifetime.Shorter(whole.RetainAt(at), part.RetainAt(at)) }
		if may(whole.Key.PK, key.PK) && may(whole.Key.SK, key.SK) && slices.ContainsFunc(times, longer) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// bar bars the key of an event, and removes its claims and states in the same transaction. A claim
// that another event holds stays. That can happen if both events were stored before claims were
// declared. The transaction checks that the other event still holds it. Otherwise this event might
// have claimed the value in the meantime, and nothing would ever release it. A state that another
// event has replaced stays, too.
func (e *erasure) bar(ctx context.Context, bar *dynamodb.PutItemInput, list []release) rows.Answer {
	if len(list) == 0 {
		_, err := e.stages.Client.PutItem(ctx, bar)
		return rows.Classify(err)
	}
	in := &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Put: &types.Put{TableName: bar.TableName,
		Item:                bar.Item,
		ConditionExpression: bar.ConditionExpression, ExpressionAttributeNames: bar.ExpressionAttributeNames,
		ExpressionAttributeValues: bar.ExpressionAttributeValues}}}}
	for i := range list {
		in.TransactItems = append(in.TransactItems, list[i].write(&e.stages.Events))
	}
	sent := e.stages.Transact(ctx, in)
	if sent.Outcome != rows.Cancelled || len(sent.Reasons) != len(in.TransactItems) {
		return sent.Answer
	}
	again, other := slices.Clone(list), false
	for i, reason := range sent.Reasons[1:] {
		if rows.ClassifyReason(reason).Outcome != rows.Failed {
			continue
		}
		if err := e.lookAgain(ctx, &again[i]); err != nil {
			return rows.Answer{Outcome: rows.Unknown, Err: err}
		}
		other = true
	}
	if other {
		return e.bar(ctx, bar, again)
	}
	for _, reason := range sent.Reasons {
		if a := rows.ClassifyReason(reason); a.Outcome != rows.Done {
			return a
		}
	}
	return sent.Answer
}

// lookAgain takes the answer that the key of a claim or a state holds something else than r says. A
// state then belongs to the other one of the two: to this event, or to another.
func (e *erasure) lookAgain(ctx context.Context, r *release) error {
	if isState(r.part) {
		r.stays = !r.stays
		return nil
	}
	img, err := e.stages.Image(ctx, r.part.Key)
	if err != nil {
		return err
	}
	if *r = newRelease(r.part); len(img) > 0 { // otherwise another event held it, and it is gone
		// Its own may be made of other members than today.
		r.digest, r.stays = img["digest"], e.whole == nil || !rows.ReadPart(img, true).IsPartOf(e.whole)
	}
	return nil
}

// barring returns the request that bars the key. Its condition is that the key still holds what was
// read, as far as the bar depends on it: nothing, an event with a revision, or an event with this
// expiry. Or the key is barred already. Between the read and the put, somebody may have removed
// that item, and a message may have stored another event that expires later. Without the condition,
// the bar would expire before that event.
func (e *erasure) barring() *dynamodb.PutItemInput {
	known := e.known
	in := &dynamodb.PutItemInput{TableName: &e.stages.Events, Item: rows.KeyImage(e.key)}
	when := func(condition, name, attribute string) {
		in.ConditionExpression, in.ExpressionAttributeNames = &condition, map[string]string{"#t": "type", name: attribute}
	}
	in.Item[rows.BarredAttribute] = &types.AttributeValueMemberBOOL{Value: true}
	switch {
	case len(known) == 0:
		in.ConditionExpression = aws.String("attribute_not_exists(PK)")
		return in
	case rows.Barred(known): // only claims are left
		if known["expiresAt"] != nil {
			in.Item["expiresAt"] = known["expiresAt"]
		}
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#b = :b"), map[string]string{"#b": rows.BarredAttribute}
		in.ExpressionAttributeValues = rows.Image{":b": known[rows.BarredAttribute]}
		return in
	case known[itemform.Migrated] != nil: // a copy or a tombstone: another row may have the key later, and expire later
		in.ConditionExpression, in.ExpressionAttributeNames = aws.String("#m = :m"), map[string]string{"#m": itemform.Migrated}
		in.ExpressionAttributeValues = rows.Image{":m": known[itemform.Migrated]}
		return in
	case known["revision"] != nil:
		when("#t = :t AND attribute_exists(#r)", "#r", "revision")
	case known["expiresAt"] != nil:
		in.Item["expiresAt"] = known["expiresAt"]
		when("#t = :t AND #e = :e", "#e", "expiresAt")
		in.ExpressionAttributeValues = rows.Image{":e": known["expiresAt"]}
	default:
		when("#t = :t AND attribute_not_exists(#e)", "#e", "expiresAt")
	}
	if in.ExpressionAttributeValues == nil {
		in.ExpressionAttributeValues = rows.Image{}
	}
	in.ExpressionAttributeValues[":t"] = known["type"]
	return in
}
