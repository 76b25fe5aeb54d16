package migrate

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/keys"
)

// Lag says how far capture has got.
type Lag interface {
	// Counted returns a time. Capture has done every change of the old table before it. The error
	// says why the time is not known.
	Counted(context.Context) (time.Time, error)
}

// Compared is what [Sync.Compare] has found.
type Compared struct {
	Rows, Copies int
	// Skipped, Expired and Refused count rows that have no copy. Why has the reasons of those that
	// are refused, with how many rows have each.
	Skipped, Expired, Refused int
	Why                       map[string]int
	OneWay                    int // rows that migration.yaml's back would not bring back; Why has the reasons
	Collisions                int // keys that several rows claim, or that something else holds
	Erased                    int // keys of rows whose events were erased
	InMotion                  int // keys that differed and changed between two looks
	// Differences are keys that did not change at three looks and differ.
	Differences []Difference
	Began       time.Time
}

// Clean reports whether nothing stands against a turn: no difference, no collision, no refused row,
// and none that would not come back.
func (c *Compared) Clean() bool {
	return len(c.Differences) == 0 && c.Collisions == 0 && c.Refused == 0 && c.OneWay == 0
}

// Difference is one key of the new table that is not what its row says.
type Difference struct {
	Key  event.Key
	Rows []string // the names of the rows that claim it
	What string   // missing, left over, or different
}

// comparison is one call of Compare.
type comparison struct {
	*Sync
	way     Direction
	out     Compared
	sums    []sum           // by bucket: what rows say, less what copies say
	differs map[uint32]bool // buckets
	suspect map[event.Key]*suspect
}

// suspect is a key of a bucket that differs.
type suspect struct {
	names []string
	seen  string // the row and the copy as they were at the last look
}

// buckets is how many sums the keys are divided into.
const buckets = 1 << 16

// sum is a sum of hashes, modulo 2^256. A term that is there twice does not cancel out, as it would
// if the terms were XORed.
type sum [4]uint64

func (s *sum) add(h [32]byte, less bool) {
	var carry uint64
	for i := range s {
		word := binary.LittleEndian.Uint64(h[i*8:])
		if less {
			s[i], carry = bits.Sub64(s[i], word, carry)
		} else {
			s[i], carry = bits.Add64(s[i], word, carry)
		}
	}
}

// looks is how often a key must be seen unchanged, and different, before it counts as a difference.
const looks = 3

// Compare compares all rows with all copies while both tables change. It reads both once,
// consistently, and adds up a term for each key; keys of buckets that differ are looked at three
// times, each after capture has done what was written before the look before.
func (s *Sync) Compare(ctx context.Context, lag Lag) (*Compared, error) {
	c := &comparison{Sync: s, sums: make([]sum, buckets), differs: map[uint32]bool{}, suspect: map[event.Key]*suspect{}}
	c.out.Began, c.out.Why = s.store.Env.Now(), map[string]int{}
	before, err := s.Control(ctx)
	if err == nil {
		c.way, err = s.allows(before)
	}
	if err != nil {
		return nil, err
	}
	err = c.scan(ctx, func(key event.Key, row string, term [32]byte, less bool) { c.sums[bucketOf(key)].add(term, less) })
	if err != nil {
		return nil, err
	}
	for i := range c.sums {
		if c.sums[i] != (sum{}) {
			c.differs[uint32(i)] = true
		}
	}
	if len(c.differs) > 0 {
		counts := c.out
		counts.Why = maps.Clone(c.out.Why)
		if err := c.scan(ctx, c.collect); err != nil {
			return nil, err
		}
		c.out = counts
		if err := c.lookAgain(ctx, lag); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(c.out.Differences, func(a, b Difference) int { return compareKeys(a.Key, b.Key) })
	return &c.out, s.note(ctx, before, &c.out)
}

// scan reads both tables and calls term for each key that a row should have and that a copy has.
func (c *comparison) scan(ctx context.Context, term func(key event.Key, row string, term [32]byte, less bool)) error {
	for page, err := range c.source.Pages(ctx, c.old.Table) {
		if err != nil {
			return err
		}
		for _, row := range page {
			c.out.Rows++
			items, why := c.itemsOf(row)
			c.noteRow(row, why)
			c.noteBack(row, items)
			for _, item := range items {
				term(item.Key, c.nameOf(row), termOfItem(item, c.nameOf(row)), false)
			}
		}
	}
	for page, err := range c.store.Pages(ctx, c.store.Events) {
		if err != nil {
			return err
		}
		for _, img := range page {
			if !c.mapping.Becomes(rows.TextOf(img["type"])) || c.expiring(rows.IntegerOf(img["expiresAt"])) {
				continue
			}
			c.out.Copies++
			if img[alsoAttribute] != nil && c.way == Forward { // after a turn, it names rows of before
				c.out.Collisions++
			}
			name := c.rowOfCopy(img)
			term(rows.KeyOf(img), name, c.termOfCopy(img, name), true)
		}
	}
	return nil
}

// noteBack counts a row whose event would not go back to it.
func (c *comparison) noteBack(row Row, items []*event.Item) {
	if len(items) == 0 || !c.mapping.GoesBack() || c.way == Backward {
		return
	}
	if why := c.comesBack(c.nameOf(row), items[0]); why != "" {
		c.out.OneWay++
		c.out.Why[why]++
	}
}

func (c *comparison) noteRow(row Row, why noCopy) {
	switch why {
	case skipped:
		c.out.Skipped++
	case expired:
		c.out.Expired++
	case refused:
		c.out.Refused++
		c.out.Why[c.mapping.Map(row).Refusal.Error()]++
	}
}

// expiring reports whether an event expires within an hour, so that its row is none any more.
func (s *Sync) expiring(expires int64) bool {
	return expires != 0 && expires-3600 <= s.store.Env.Now().Unix()
}

func bucketOf(key event.Key) uint32 {
	h := sha256.Sum256([]byte(key.PK + "\x00" + key.SK))
	return binary.LittleEndian.Uint32(h[:]) % buckets
}

func (c *comparison) collect(key event.Key, row string, _ [32]byte, _ bool) {
	if !c.differs[bucketOf(key)] {
		return
	}
	s := c.suspect[key]
	if s == nil {
		s = &suspect{}
		c.suspect[key] = s
	}
	if !slices.Contains(s.names, row) {
		s.names = append(s.names, row)
	}
}

// termOfItem is the term of a key, what its copy says, and its row.
func termOfItem(item *event.Item, row string) [32]byte {
	h := sha256.New()
	part := func(text string) {
		var size [4]byte
		binary.BigEndian.PutUint32(size[:], uint32(len(text)))
		h.Write(size[:])
		h.Write([]byte(text))
	}
	for _, text := range []string{item.Key.PK, item.Key.SK, item.Type, string(item.Digest[:]), keys.FormatTime(item.At), row} {
		part(text)
	}
	for _, index := range item.Indexes {
		part(index.Name)
		part(index.Key.PK)
		part(index.Key.SK)
	}
	return [32]byte(h.Sum(nil))
}

func (s *Sync) termOfCopy(img rows.Image, row string) [32]byte {
	item := event.Item{Key: rows.KeyOf(img), Type: rows.TextOf(img["type"])}
	copy(item.Digest[:], rows.BytesOf(img["digest"]))
	item.At, _ = keys.ParseTime(rows.TextOf(img["at"]))
	for _, name := range slices.Sorted(slices.Values(s.mapping.pipeline.Indexes())) {
		if img[name+"PK"] != nil {
			item.Indexes = append(item.Indexes, event.IndexKey{Name: name,
				Key: event.Key{PK: rows.TextOf(img[name+"PK"]), SK: rows.TextOf(img[name+"SK"])}})
		}
	}
	return termOfItem(&item, row)
}

// lookAgain looks at the suspects three times. What has changed in between is in motion.
func (c *comparison) lookAgain(ctx context.Context, lag Lag) error {
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
	d := &syncing{Sync: c.Sync, spots: map[event.Key]*spot{}, known: map[string]Row{}}
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
	for _, p := range spots {
		c.judge(d, p, items, look)
	}
	return nil
}

func (c *comparison) judge(d *syncing, p *spot, items map[string][]*event.Item, look int) {
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
		drop(&c.out.Collisions)
		return
	case len(claims) == 0 && live && !c.expiring(rows.IntegerOf(p.cur["expiresAt"])):
		what = []string{"left over", "missing in the old table"}[c.way]
		if of := c.sourceOf(p.cur); c.way == Backward && of.item != nil {
			if why := c.comesBack(of.name, of.item); why != "" {
				what += ": " + why
			}
		}
	case len(claims) > 0 && !live:
		what = []string{"missing", "left over in the old table"}[c.way]
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
func (s *Sync) note(ctx context.Context, before *Control, c *Compared) error {
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
			"stream, or has met a row that is refused or that claims the key of another one: compare again")
	}
	return err
}
