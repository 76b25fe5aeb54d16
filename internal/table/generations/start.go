package generations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Start does what Store.Start says.
func (s *Heads) Start(ctx context.Context) error {
	doubted := false
	var last rows.Answer
	err := s.Retry(ctx, func(ctx context.Context) (rows.Answer, rows.Next) {
		last = s.start(ctx)
		if last.Outcome == rows.Done {
			return last, rows.Ended
		}
		if mistaken := (*tables.StartError)(nil); errors.As(last.Err, &mistaken) && !doubted {
			doubted = true // the keys of a batch are read one by one, so another start may have written in between
			return last, rows.Again
		}
		return last, rows.Later
	})
	if err != nil && !last.Hopeless() {
		return fmt.Errorf("start: the aggregates table %s gave no proof that its heads are written: %w", s.Aggregates, err)
	}
	if err == nil {
		s.looked.Store(s.Env.Now().UnixNano())
	}
	return err
}

// knownFor is how long the store trusts what Start, Renew and CheckHome have found.
const knownFor = 5 * time.Minute

func recently(found *atomic.Int64, now time.Time) bool {
	at := found.Load()
	return at != 0 && now.Sub(time.Unix(0, at)) <= knownFor
}

// Renew checks the home and the table again, if more than five minutes have passed since Start or
// Renew did. An old function may keep running after a newer one has started, or return after a
// rollback. Then it must learn which generations it does not know. Renew reads only the small item
// of the epoch, because a thousand functions do the same. It starts again only if that item has
// changed, or if nothing has started yet.
func (s *Heads) Renew(ctx context.Context) error {
	now := s.Env.Now()
	if s.looked.Load() == 0 {
		return s.Start(ctx)
	}
	if err := s.CheckHome(ctx); err != nil || recently(&s.looked, now) {
		return err
	}
	img, err := s.Get(ctx, lanes.EpochKey)
	if err != nil {
		return fmt.Errorf("reading the epoch of the aggregates table %s: %w", s.Aggregates, awserr.Quiet(err))
	}
	if known := s.known.Load(); known == nil || *known != stateOf(img) {
		return s.Start(ctx)
	}
	s.looked.Store(now.UnixNano())
	return nil
}

// stateOf returns what an item E# says, as text.
func stateOf(img rows.Image) string {
	text := rows.NumberOf(img["epoch"])
	for _, d := range readGenerations(img["generations"]) {
		text += " " + lanes.ID(d)
	}
	return text
}

// Newer lists the generations that the aggregates table counts and this pipeline is too old to
// know, as Store.Start found them. Only Name and Since are set. All events that this pipeline
// stores are stamped below them.
func (s *Heads) Newer() []*aggregate.Definition {
	if newer := s.newer.Load(); newer != nil {
		return *newer
	}
	return nil
}

// Unclosed returns the generations whose totals are not closed when their events expire, as
// Store.Start found them.
func (s *Heads) Unclosed() map[*aggregate.Definition]bool {
	if unclosed := s.unclosed.Load(); unclosed != nil {
		return *unclosed
	}
	return nil
}

// start tries once. Its answer is hopeless if the table and the pipeline do not agree. Any other
// answer that is not done means that another function may have started, or that an answer was lost.
// Then the next try reads the table again.
func (s *Heads) start(ctx context.Context) rows.Answer {
	if err := s.CheckHome(ctx); err != nil {
		return rows.Answer{Outcome: rows.Invalid, Err: fmt.Errorf("start: %w", err)} // CheckHome has retried already
	}
	t, err := s.roster(ctx)
	if err != nil {
		return rows.Classify(fmt.Errorf("start: reading the aggregates table %s: %w", s.Aggregates, awserr.Quiet(err)))
	}
	s.flagged.learn(t.heads, s.Env.Now())
	if check := s.Pipeline.SecretCheck(); check != "" && t.check == check {
		s.sure.Store(true)
	}
	c := s.compare(t)
	if len(c.mistakes) > 0 {
		if err := s.SameSecret(ctx); errors.Is(err, tables.ErrOtherSecret) { // it may be the reason for all of them
			return rows.Answer{Outcome: rows.Invalid, Err: fmt.Errorf("start: %w", err)}
		}
		return rows.Answer{Outcome: rows.Invalid, Err: &tables.StartError{Mistakes: c.mistakes}}
	}
	s.unclosed.Store(&c.unclosed)
	// The check value is written before the epoch is raised, but after everything else: a function
	// that must not start changes nothing. If the table has the value, CheckSecret asks nothing.
	if err := s.CheckSecret(ctx); err != nil {
		return rows.Answer{Outcome: rows.Invalid, Err: fmt.Errorf("start: %w", err)} // CheckSecret has retried already
	}
	if err := s.keepRetains(ctx, t); err != nil {
		return rows.Classify(fmt.Errorf("start: noting in %s how long events live: %w", s.Aggregates, awserr.Quiet(err)))
	}
	if t.epoch < s.Pipeline.Epoch() {
		s.file.Store(&keptFile{epoch: s.Pipeline.Epoch()})
		return s.raise(ctx, t.epoch, c)
	}
	s.file.Store(&keptFile{digest: t.file, epoch: t.epoch})
	s.newer.Store(&c.newer)
	s.known.Store(&t.state)
	return rows.Answer{}
}

// roster is the state of the aggregates table: its epoch, its generations and its secret.
type roster struct {
	state   string                     // what its item E# says
	epoch   int64                      // the highest that a streams handler has started with; 0: the table is fresh
	counted []*aggregate.Definition    // the generations of that epoch's pipeline: name and since only
	heads   map[event.Key]*tables.Head // of this pipeline's generations
	check   string                     // the check value of the secret of hmac; empty if it was not read
	file    string                     // the digest of the deployed file; empty if there is none of this epoch
}

// roster reads the epoch and the heads of this pipeline's generations, consistently. If there is
// room, it also reads the check value of the secret, which saves a request at the start.
func (s *Heads) roster(ctx context.Context) (*roster, error) {
	request := types.KeysAndAttributes{ConsistentRead: aws.Bool(true),
		Keys: []map[string]types.AttributeValue{rows.KeyImage(lanes.EpochKey)}}
	for _, d := range s.Pipeline.Definitions() {
		request.Keys = append(request.Keys, rows.KeyImage(lanes.HeadKey(d)))
	}
	if s.Pipeline.SecretCheck() != "" && len(request.Keys) < rows.MaxKeys {
		request.Keys = append(request.Keys, rows.KeyImage(lanes.SecretKey))
	}
	out, err := s.Client.BatchGetItem(ctx,
		&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{s.Aggregates: request}})
	if err != nil {
		return nil, err
	}
	if len(out.UnprocessedKeys) > 0 {
		return nil, errors.New("the service left keys unread")
	}
	t := &roster{heads: map[event.Key]*tables.Head{}}
	for _, img := range out.Responses[s.Aggregates] {
		switch key := rows.KeyOf(img); key {
		case lanes.EpochKey:
			t.epoch, t.counted, t.state, t.file = rows.IntegerOf(img["epoch"]), readGenerations(img["generations"]), stateOf(img),
				rows.TextOf(img["file"])
		case lanes.SecretKey:
			t.check = rows.TextOf(img["check"])
		default:
			t.heads[key] = ReadHead(img)
		}
	}
	return t, nil
}

// changes is what a start would change, and the reasons why it may not.
type changes struct {
	fresh    []*aggregate.Definition // they have no head yet
	retired  []*aggregate.Definition // counted so far, but no longer declared
	newer    []*aggregate.Definition // this pipeline is too old to know them
	unclosed map[*aggregate.Definition]bool
	mistakes []string
}

func (c *changes) mistake(format string, args ...any) {
	c.mistakes = append(c.mistakes, fmt.Sprintf(format, args...))
}

// maxHeads is how many heads one transaction can write beside the epoch.
const maxHeads = rows.MaxTransaction - 1

// compare compares the table with the pipeline.
func (s *Heads) compare(t *roster) *changes {
	own, c := s.Pipeline.Epoch(), &changes{unclosed: map[*aggregate.Definition]bool{}}
	next := max(own, t.epoch+1) // the lowest epoch in which a change can be made
	for _, d := range s.Pipeline.Definitions() {
		head := t.heads[lanes.HeadKey(d)]
		switch {
		case head == nil && t.epoch >= own:
			c.mistake("aggregate %s has no head, and the table is at epoch %d already; declare it with since: %d and raise epoch to %d", d,
				t.epoch, next, next)
		case head == nil && d.Since <= t.epoch:
			c.mistake("aggregate %s is new, but the table is at epoch %d already; declare it with since: %d", d, t.epoch, own)
		case head == nil:
			c.fresh = append(c.fresh, d)
			c.unclosed[d] = lanes.Unclosed(d, s.Pipeline.ShortestRetain(d, time.Time{}))
		case head.Retired > 0 && head.Retired <= own:
			c.mistake("aggregate %s was taken out at epoch %d and has counted nothing since; to have it back, declare it with since: %d "+
				"and epoch: %d", d, head.Retired, next, next)
		case head.OtherSecret(d):
			c.mistake("aggregate %s is grouped by hmac with another secret in the table than INGOT_PII_KEY; give both functions, and "+
				"every program that reads totals, the old secret (parameter PiiKeySecretArn of template.yaml). Only if it is lost, "+
				"declare the aggregate again with since: %d and epoch: %d", d, next, next)
		default:
			c.unclosed[d] = head.Unclosed
			if what := s.differs(d, head); what != "" {
				c.mistake("aggregate %s %s; go back to that, or declare the change as a new generation with since: %d and epoch: %d", d,
					what, next, next)
			}
		}
	}
	for _, d := range t.counted {
		switch {
		case s.declares(d):
		case own > t.epoch:
			c.retired = append(c.retired, d)
		case own < d.Since:
			c.newer = append(c.newer, d)
		default:
			c.mistake("aggregate %s is counted in this table, and pipeline.yaml, at epoch %d, does not declare it; put it back, or take "+
				"it out with epoch: %d", d, own, next)
		}
	}
	if n := len(c.fresh) + len(c.retired); n > maxHeads {
		c.mistake("%d aggregates are new and %d are taken out, and one start can change %d; first take some out under an epoch of its "+
			"own, then declare the rest (one that is changed is taken out and new)", len(c.fresh), len(c.retired), maxHeads)
	}
	return c
}

func (s *Heads) declares(d *aggregate.Definition) bool {
	return slices.ContainsFunc(s.Pipeline.Definitions(), func(own *aggregate.Definition) bool { return lanes.ID(own) == lanes.ID(d) })
}

// differs says how a definition would be counted differently from what its head says. The text is
// empty if there is no difference.
func (s *Heads) differs(d *aggregate.Definition, head *tables.Head) string {
	if what := head.Differs(d); what != "" {
		return what
	}
	if head.Counting != s.how.String() {
		return "is counted by " + head.Counting + " in the table, and this function counts by " + s.how.String()
	}
	return ""
}

// raise writes the new epoch and the heads in one transaction. A head without its epoch would let
// another start add generations to an epoch that is over. An epoch without its heads would make
// every start fail. A generation that is not declared any more, but not retired, could later
// continue as if it had counted all the time.
func (s *Heads) raise(ctx context.Context, from int64, c *changes) rows.Answer {
	to := &types.Put{TableName: &s.Aggregates, Item: rows.KeyImage(lanes.EpochKey)}
	to.Item["epoch"], to.Item["generations"] = rows.Integer(s.Pipeline.Epoch()), writeGenerations(s.Pipeline.Definitions())
	if from == 0 {
		to.ConditionExpression = aws.String("attribute_not_exists(PK)")
	} else {
		to.ConditionExpression, to.ExpressionAttributeNames = aws.String("#e = :from"), map[string]string{"#e": "epoch"}
		to.ExpressionAttributeValues = rows.Image{":from": rows.Integer(from)}
	}
	items := []types.TransactWriteItem{{Put: to}}
	for _, d := range c.fresh {
		items = append(items, types.TransactWriteItem{Put: &types.Put{TableName: &s.Aggregates,
			Item: headImage(d, s.how, from != 0, c.unclosed[d], c.retired), ConditionExpression: aws.String("attribute_not_exists(PK)")}})
	}
	for _, d := range c.retired {
		items = append(items, types.TransactWriteItem{Update: &types.Update{TableName: &s.Aggregates, Key: rows.KeyImage(lanes.HeadKey(d)),
			UpdateExpression: aws.String("SET #retired = :epoch"), ExpressionAttributeNames: map[string]string{"#retired": "retired"},
			ExpressionAttributeValues: rows.Image{":epoch": rows.Integer(s.Pipeline.Epoch())}}})
	}
	_, err := s.Client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: items})
	if err == nil {
		return rows.Answer{}
	}
	a := rows.Classify(fmt.Errorf("start: writing epoch %d and %d heads to %s: %w", s.Pipeline.Epoch(), len(items)-1, s.Aggregates,
		awserr.Quiet(err)))
	var cancel *types.TransactionCanceledException
	if errors.As(err, &cancel) && slices.ContainsFunc(cancel.CancellationReasons, func(r types.CancellationReason) bool {
		return rows.ClassifyReason(r).Outcome == rows.Invalid
	}) {
		a.Outcome = rows.Invalid
	}
	return a
}

// writeGenerations returns the list of generations that E# keeps.
func writeGenerations(defs []*aggregate.Definition) types.AttributeValue {
	list := &types.AttributeValueMemberL{Value: []types.AttributeValue{}}
	for _, d := range defs {
		list.Value = append(list.Value, rows.Text(lanes.ID(d)))
	}
	return list
}

func readGenerations(v types.AttributeValue) (defs []*aggregate.Definition) {
	list, _ := v.(*types.AttributeValueMemberL)
	if list == nil {
		return nil
	}
	for _, id := range list.Value {
		if d, ok := lanes.ParseID(rows.TextOf(id)); ok {
			defs = append(defs, d)
		}
	}
	return defs
}
