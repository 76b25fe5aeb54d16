package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/internal/table/walk"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/migrate/rowmap"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// Lag says how far capture has got.
type Lag interface {
	// Counted returns a time. Capture has done every change of the old table before it. The error
	// says why the time is not known.
	Counted(context.Context) (time.Time, error)
}

// Compared is what [Migration.Compare] has found.
type Compared struct {
	Rows, Copies int
	// Skipped, Expired and Refused count rows that have no copy. Why has the reasons of those that
	// are refused, with how many rows have each.
	Skipped, Expired, Refused int
	Why                       map[string]int
	Untaken                   int // rows with an attribute that no template takes: `ingot migrate status --rows 0` lists them
	OneWay                    int // rows that migration.yaml's back would not bring back; Why has the reasons
	Collisions                int // keys that several rows claim, or that something else holds
	Erased                    int // keys of rows whose events were erased
	InMotion                  int // keys that differed and changed between two looks
	// Thinner counts rows that would lose attributes, or the kinds of some, if only what back names
	// were left of them: a row that goes back where no record has it as it was.
	Thinner int
	// Named are the rows and keys of Refused, OneWay and Collisions, up to 100,000 of them.
	Named []Named
	// Differences are keys that did not change at three looks and differ.
	Differences []Difference
	Began       time.Time
}

// Clean reports whether nothing stands against a turn: no difference, no collision, no refused row,
// and none that would not come back.
func (c *Compared) Clean() bool {
	return len(c.Differences) == 0 && c.Collisions == 0 && c.Refused == 0 && c.OneWay == 0
}

// Named is a row of the old table, or a key of the new one, that stands against a turn.
type Named struct {
	Kind string // refused or one way, of a row; collision, of a key
	Name string
	Why  string // of a collision: the rows that claim the key, as far as they are known
}

// The kinds of [Named].
const (
	NamedRefused   = "refused"
	NamedOneWay    = "one way"
	NamedCollision = "collision"
)

// Difference is one key of the new table that is not what its row says.
type Difference struct {
	Key  event.Key
	Rows []string // the names of the rows that claim it
	What string   // missing, left over, or different
}

// comparison is a comparison, or a unit of work of one.
type comparison struct {
	*Migration
	before  *Control // what the control item said when it began
	way     Direction
	pass    *sums.Pass[counts, suspects]
	most    int // suspects that may still be listed
	out     Compared
	suspect map[event.Key]*suspect
}

// counts are what a segment has seen.
type counts struct {
	Rows, Copies, Skipped, Expired, Refused, Untaken, OneWay, Collisions, Thinner int

	Why   map[string]int
	Named []Named
}

// suspects are keys of a bucket of which rows and copies say different things. They may be in
// motion.
type suspects struct {
	List []claimed
	More int // beyond those listed
}

// claimed is a key with the names of the rows that claim it.
type claimed struct {
	PK, SK string
	Rows   []string
}

// suspect is a key that is looked at again.
type suspect struct {
	names []string
	seen  string // the row and the copy as they were at the last look
}

const (
	// mostSuspects bounds how many keys are looked at again. If there are more, a table lacks a
	// part, and no look would tell anything else.
	mostSuspects = 1_000_000
	// mostWhy bounds the different reasons that are counted.
	mostWhy = 100
	// mostNamed bounds the rows and keys that are named.
	mostNamed = 100_000
)

// looks is how often a key must be seen unchanged, and different, before it counts as a difference.
const looks = 3

// Compare compares all rows with all copies while both tables change. It reads both once,
// consistently, and adds up what each says of a key. Keys that differ are looked at three times,
// each after capture has done what was written before the look before.
func (s *Migration) Compare(ctx context.Context, lag Lag) (*Compared, error) {
	c, err := s.Comparison(ctx, sums.Config{})
	if err != nil {
		return nil, err
	}
	return c.Run(ctx, lag)
}

// Comparison compares all rows with all copies. [Comparison.Run] does it in one process.
// [Comparison.Segment], [Comparison.Merge] and [Comparison.Finish] are its units of work, for
// tables that outgrow one machine: see package sums. One call of a method works at a time.
type Comparison struct{ c *comparison }

// Comparison begins a comparison, or a unit of work of one, with one request. Config.Env does not
// matter. A work folder of before a change of the files, or of the source, is refused.
func (s *Migration) Comparison(ctx context.Context, of sums.Config) (*Comparison, error) {
	c := &comparison{Migration: s, most: mostSuspects, suspect: map[event.Key]*suspect{}}
	before, err := s.Control(ctx)
	if err == nil {
		c.before = before
		c.way, err = s.allows(before)
	}
	if err != nil {
		return nil, err
	}
	of.Env = s.store.Env
	id := fmt.Sprintf("ingot migrate compare %q %q %q %q %d %d", s.mapping.Name(), s.mapping.Digest(), s.old.ID, s.old.EventsID, c.way,
		before.voided)
	c.pass = sums.New(of, sha256.Sum256([]byte(id)), c)
	return &Comparison{c}, nil
}

// Run compares in this process, and keeps the result as evidence for a turn.
func (c *Comparison) Run(ctx context.Context, lag Lag) (*Compared, error) {
	r, err := c.c.pass.Run(ctx)
	if err != nil {
		return nil, err
	}
	return c.c.finish(ctx, lag, r)
}

// Segment reads one segment of both tables: see [sums.Pass.Segment].
func (c *Comparison) Segment(ctx context.Context, segment int) (read bool, err error) {
	return c.c.pass.Segment(ctx, segment)
}

// Merge compares the keys of one hash bucket: see [sums.Pass.Merge].
func (c *Comparison) Merge(ctx context.Context, bucket int) error {
	c.c.most = mostSuspects / c.c.pass.Buckets
	_, err := c.c.pass.Merge(ctx, bucket)
	return err
}

// Done reads which units of work are done.
func (c *Comparison) Done(ctx context.Context) (sums.Done, error) { return c.c.pass.Done(ctx) }

// Finish looks at the keys that the merges have found, and does the rest of what [Comparison.Run]
// does.
func (c *Comparison) Finish(ctx context.Context, lag Lag) (*Compared, error) {
	r, err := c.c.pass.Collect(ctx)
	if err != nil {
		return nil, err
	}
	return c.c.finish(ctx, lag, r)
}

// finish looks again at what differs, and keeps the result. The folder may then be used again.
func (c *comparison) finish(ctx context.Context, lag Lag, r *sums.Result[counts, suspects]) (*Compared, error) {
	c.out = Compared{Began: r.Began, Why: map[string]int{}}
	for _, seen := range r.Seen {
		c.out.add(seen)
	}
	more := 0
	for _, found := range r.Found {
		more += found.More
		for _, one := range found.List {
			c.suspect[event.Key{PK: one.PK, SK: one.SK}] = &suspect{names: one.Rows}
		}
	}
	if more > 0 {
		return nil, stopped("%d keys differ, which is more than can be looked at again: has the backfill ended, and is capture on? If they "+
			"are only in motion, compare while less is written", len(c.suspect)+more)
	}
	if err := c.lookAgain(ctx, lag); err != nil {
		return nil, err
	}
	slices.SortFunc(c.out.Differences, func(a, b Difference) int { return compareKeys(a.Key, b.Key) })
	if err := c.note(ctx, c.before, &c.out); err != nil {
		return nil, err
	}
	if err := c.forget(ctx); err != nil {
		return nil, err
	}
	return &c.out, c.pass.Clear(ctx, r)
}

func (c *Compared) add(seen *counts) {
	c.Rows, c.Copies, c.Skipped = c.Rows+seen.Rows, c.Copies+seen.Copies, c.Skipped+seen.Skipped
	c.Expired, c.Refused = c.Expired+seen.Expired, c.Refused+seen.Refused
	c.Untaken, c.OneWay, c.Collisions = c.Untaken+seen.Untaken, c.OneWay+seen.OneWay, c.Collisions+seen.Collisions
	c.Thinner += seen.Thinner
	for why, n := range seen.Why {
		c.Why[why] += n
	}
	c.Named = append(c.Named, seen.Named[:min(len(seen.Named), mostNamed-len(c.Named))]...)
}

// Read implements [sums.Job].
func (c *comparison) Read(ctx context.Context, s *sums.Reading[counts], side sums.Side) error {
	table, name, key, of, add := c.store, rows.KeyOf, rows.KeyImage, c.store.Events, c.copyTerms
	if side == sums.Wanted { // a row's key is not an event's, so its name takes the place of one
		name = func(key rows.Image) event.Key { return event.Key{PK: rowmap.NameOf(key, c.old.Keys)} }
		key = func(k event.Key) rows.Image { return rowmap.ParseName(k.PK) }
		table, of, add = c.source, c.old.Table, c.rowTerms
	}
	pages := func(ctx context.Context, seg tables.Segment) iter.Seq2[tables.Page[rows.Image], error] {
		part := walk.Part{Number: seg.Number, Of: seg.Of}
		if seg.After != (event.Key{}) {
			part.After = key(seg.After)
		}
		return func(yield func(tables.Page[rows.Image], error) bool) {
			for images, err := range walk.Pages(ctx, table, of, part) {
				page := tables.Page[rows.Image]{All: images.All, Units: images.Units}
				if len(images.Next) > 0 {
					page.Next = name(images.Next)
				}
				if !yield(page, err) {
					return
				}
			}
		}
	}
	return sums.Pages(ctx, s, side, pages, func(page *tables.Page[rows.Image]) (float64, error) {
		lost := map[event.Key]bool{}
		var err error
		if side == sums.Stored {
			lost, err = c.lostOf(ctx, page.All)
		}
		for _, img := range page.All {
			if !lost[rows.KeyOf(img)] { // what cannot be read is not a copy
				add(s, img)
			}
		}
		return page.Units, err
	})
}

// rowTerms adds what a row says of each key that it claims.
func (c *comparison) rowTerms(s *sums.Reading[counts], row Row) {
	s.Seen.Rows++
	m, why := c.itemsOf(row)
	name := rowmap.NameOf(row, c.old.Keys)
	if s.Seen.noteRow(m, why); why == refused {
		c.name(s.Seen, Named{NamedRefused, name, m.Refusal.Error()})
	}
	c.noteBack(s.Seen, row, name, m.Items)
	for _, item := range m.Items {
		addTerm(s, sums.Wanted, item.Key, name, termOf(c.saysItem(item), name))
	}
}

// copyTerms adds what a copy says of its key.
func (c *comparison) copyTerms(s *sums.Reading[counts], img rows.Image) {
	if !c.mapping.Becomes(rows.TextOf(img["type"])) || c.expiring(rows.IntegerOf(img["expiresAt"])) {
		return
	}
	s.Seen.Copies++
	name := c.rowOfCopy(img)
	if also := rows.TextsOf(img[alsoAttribute]); len(also) > 0 && c.way == Forward { // after a turn, it names rows of before
		s.Seen.Collisions++
		c.name(s.Seen, Named{NamedCollision, rows.KeyOf(img).String(), strings.Join(append([]string{name}, also...), ", ")})
	}
	addTerm(s, sums.Stored, rows.KeyOf(img), name, termOf(c.says(img), name))
}

// addTerm adds a term to a side of a key, as two numbers of 63 bits. A term that is there twice
// does not cancel out. If all rows claim one key, a few of their names are enough.
func addTerm(s *sums.Reading[counts], side sums.Side, key event.Key, row string, term [32]byte) {
	half := func(i int) event.Decimal { return event.DecimalOf(int64(binary.LittleEndian.Uint64(term[i*8:]) >> 1)) }
	s.Side(side, nil, func(dst []byte) []byte {
		dst = append(strconv.AppendInt(dst, int64(len(key.PK)), 10), ':')
		return append(append(dst, key.PK...), key.SK...)
	}, func(one *sums.Sum) {
		one.FP, one.FPX = one.FP.Add(half(0)), one.FPX.Add(half(1))
		if row != "" && len(one.Notes) < maxAlso {
			one.Notes = append(one.Notes, row)
		}
	})
}

// keyOfPair returns the key that addTerm wrote.
func keyOfPair(text string) (key event.Key, ok bool) {
	length, rest, _ := strings.Cut(text, ":")
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > len(rest) {
		return key, false
	}
	return event.Key{PK: rest[:n], SK: rest[n:]}, true
}

// Ops implements [sums.Job]. No key has values.
func (c *comparison) Ops(key string) ([]aggregate.Op, error) {
	if _, ok := keyOfPair(key); !ok {
		return nil, fmt.Errorf("%q is not the key of an event", key)
	}
	return nil, nil
}

// Compare implements [sums.Job].
func (c *comparison) Compare(found *suspects, p *sums.Pair) error {
	row, stored := p.Sides[sums.Wanted], p.Sides[sums.Stored]
	if row != nil && stored != nil && row.FP.Cmp(stored.FP) == 0 && row.FPX.Cmp(stored.FPX) == 0 {
		return nil
	}
	if c.most == 0 {
		found.More++
		return nil
	}
	c.most--
	key, _ := keyOfPair(p.Key)
	one := claimed{PK: key.PK, SK: key.SK}
	for _, side := range p.Sides {
		if side != nil {
			one.Rows = append(one.Rows, side.Notes...)
		}
	}
	slices.Sort(one.Rows)
	one.Rows = slices.Compact(one.Rows)
	found.List = append(found.List, one)
	return nil
}

// noteBack counts a row whose event would not go back to it, or only with less.
func (c *comparison) noteBack(seen *counts, row Row, name string, items []*event.Item) {
	if len(items) == 0 || !c.mapping.GoesBack() || c.way == Backward {
		return
	}
	back, why := c.comesBack(name, items[0])
	switch {
	case why != "":
		seen.OneWay++
		seen.because(why)
		c.name(seen, Named{NamedOneWay, name, why})
	case !rowmap.Holds(back, row):
		seen.Thinner++
	}
}

// name names a row or a key, unless a segment has named its share.
func (c *comparison) name(seen *counts, one Named) {
	if len(seen.Named) < mostNamed/max(1, c.pass.Segments) {
		seen.Named = append(seen.Named, one)
	}
}

func (seen *counts) noteRow(m rowmap.Mapped, why noCopy) {
	switch why {
	case hasCopy:
		seen.Untaken += min(1, len(m.Untaken))
	case skipped:
		seen.Skipped++
	case expired:
		seen.Expired++
	case refused:
		seen.Refused++
		seen.because(m.Refusal.Error())
	}
}

// because counts a reason.
func (seen *counts) because(why string) {
	if seen.Why == nil {
		seen.Why = map[string]int{}
	}
	if seen.Why[why] == 0 && len(seen.Why) >= mostWhy {
		why = "other reasons"
	}
	seen.Why[why]++
}

// expiring reports whether an event may no longer be put, so that its row is none any more.
func (s *Migration) expiring(expires int64) bool {
	return tables.TooLate(&event.Item{ExpiresAt: expires}, s.store.Env.Now())
}

// termOf is the term of what a copy says, its key among it, and of its row.
func termOf(says []byte, row string) [32]byte {
	return sha256.Sum256(append(append(binary.BigEndian.AppendUint32(nil, uint32(len(row))), row...), says...))
}

// lookAgain looks at the suspects three times. What has changed in between is in motion.
func (c *comparison) lookAgain(ctx context.Context, lag Lag) error {
	if len(c.suspect) == 0 {
		return nil
	}
	for look := range looks {
		if look > 0 {
			if err := c.wait(ctx, lag); err != nil {
				return err
			}
		}
		for part := range slices.Chunk(slices.SortedFunc(maps.Keys(c.suspect), compareKeys), rows.MaxKeys) {
			if err := c.look(ctx, part, look); err != nil {
				return err
			}
		}
	}
	return nil
}

// capturePatience is how long a comparison waits for capture between two looks.
const capturePatience = 15 * time.Minute

// wait waits until capture has done what was written before now.
func (c *comparison) wait(ctx context.Context, lag Lag) error {
	since := c.store.Env.Now()
	for {
		at, err := lag.Counted(ctx)
		switch {
		case err != nil:
			return fmt.Errorf("it is not known how far capture is: %w", err)
		case !at.Before(since):
			return nil
		case c.store.Env.Now().Sub(since) > capturePatience:
			return stopped("capture has not done what was written before %s, and has had %s: is it on?",
				since.UTC().Format(time.RFC3339), capturePatience)
		}
		if err := c.store.Env.Sleep(ctx, time.Second); err != nil {
			return err
		}
	}
}

// look looks at some suspects: copies first, then rows. It drops those that are equal or in motion,
// and reports the rest at the last look.
func (c *comparison) look(ctx context.Context, part []event.Key, look int) error {
	d := c.syncing(IfDifferent)
	for _, key := range part {
		d.spots[key] = &spot{key: key, names: c.suspect[key].names}
	}
	spots := d.pending()
	if err := d.readCopies(ctx, spots); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for _, p := range spots {
		for _, name := range d.claimants(p) {
			wanted[name] = name != ""
		}
	}
	images, err := d.readRows(ctx, slices.Sorted(maps.Keys(wanted)))
	if err != nil {
		return err
	}
	items := d.plan(images)
	copies := make([]rows.Image, len(spots))
	for i, p := range spots {
		copies[i] = p.cur
	}
	lost, err := c.lostOf(ctx, copies)
	for _, p := range spots {
		c.judge(d, p, items, lost[p.key], look)
	}
	return err
}

func (c *comparison) judge(d *syncing, p *spot, items map[string][]*event.Item, lost bool, look int) {
	s, claims := c.suspect[p.key], d.claims(p, items)
	drop := func(count *int) {
		if delete(c.suspect, p.key); count != nil {
			*count++
		}
	}
	what := ""
	live := p.cur["type"] != nil
	switch {
	case rows.Barred(p.cur) && (c.way == Forward || len(claims) == 0):
		drop(&c.out.Erased)
		return
	case c.foreign(p.cur) && len(claims) > 0:
		if drop(&c.out.Collisions); len(c.out.Named) < mostNamed {
			c.out.Named = append(c.out.Named, Named{NamedCollision, p.key.String(), claims[0].row + ", and an item that is not a copy"})
		}
		return
	case len(claims) == 0 && live && !c.expiring(rows.IntegerOf(p.cur["expiresAt"])):
		what = []string{"left over", "missing in the old table"}[c.way]
		if of := c.sourceOf(p.cur); c.way == Backward && of.item != nil {
			if _, why := c.comesBack(of.name, of.item); why != "" {
				what += ": " + why
			}
		}
	case len(claims) > 0 && !live:
		what = []string{"missing", "left over in the old table"}[c.way]
	case len(claims) > 0 && lost:
		what = "without its object in the payload bucket"
	case len(claims) > 0 && !c.sameImage(p.cur, claims[0].item):
		what = "different"
	case len(claims) > 1 && p.cur[alsoAttribute] == nil:
		what = "a collision that the item does not name"
	default:
		drop(nil)
		return
	}
	seen := what + tokenOf(p.cur)
	names := []string{}
	for _, claim := range claims {
		seen += claim.row + string(claim.item.Digest[:])
		names = append(names, claim.row)
	}
	if look > 0 && seen != s.seen {
		drop(&c.out.InMotion)
		return
	}
	if s.seen = seen; look == looks-1 {
		c.out.Differences = append(c.out.Differences, Difference{p.key, names, what})
	}
}

func tokenOf(cur rows.Image) string {
	v, _ := cur[itemform.Migrated].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

// note keeps what a comparison has found on the control item, as evidence for the turn. before is
// what the item said when the comparison began.
func (s *Migration) note(ctx context.Context, before *Control, c *Compared) error {
	result := clean
	if !c.Clean() {
		result = fmt.Sprintf("%d differences, %d collisions, %d refused rows, %d that would not come back", len(c.Differences),
			c.Collisions, c.Refused, c.OneWay)
	}
	values := rows.Image{":at": rows.Text(keys.FormatTime(c.Began)), ":found": rows.Text(result)}
	condition := "attribute_exists(PK) AND attribute_not_exists(voided)"
	if before.voided > 0 {
		condition, values[":voided"] = "voided = :voided", rows.Integer(before.voided)
	}
	noted, err := s.update(ctx, "SET comparedAt = :at, evidence = :found", condition, values)
	if err == nil && !noted {
		err = stopped("while the tables were compared, a pass has begun, the sides were exchanged, or capture has begun to read another " +
			"stream, or has met more rows than it can note that are refused or that claim the key of another one: compare again")
	}
	return err
}
