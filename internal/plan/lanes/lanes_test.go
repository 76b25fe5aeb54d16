package lanes_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/kit/must"
	"github.com/ingot-events/ingot/internal/plan/lanes"
)

func number(t testing.TB, s string) event.Decimal {
	t.Helper()
	d, err := event.ParseDecimal(s)
	must.Succeed(t, err)
	return d
}

func sequence(t testing.TB, s string) event.Sequence {
	t.Helper()
	q, err := event.ParseSequence(s)
	must.Succeed(t, err)
	return q
}

var daily = &aggregate.Definition{
	Name: "merchant_daily", Since: 1, By: []string{"merchant"}, Window: 24 * time.Hour, Spread: 4, Retain: 400 * 24 * time.Hour,
	Values: []aggregate.Value{{Name: "largest", Op: aggregate.Max}, {Name: "orders", Op: aggregate.Count},
		{Name: "revenue", Op: aggregate.Sum}},
}

func TestWindowStart(t *testing.T) {
	for _, c := range []struct {
		window   time.Duration
		at, want string
	}{
		{24 * time.Hour, "2018-02-01T00:00:00Z", "2018-02-01T00:00:00Z"},
		{24 * time.Hour, "2018-02-01T23:59:59.999999999Z", "2018-02-01T00:00:00Z"},
		{time.Hour, "2018-02-01T01:30:00+02:00", "2018-01-31T23:00:00Z"},
		{7 * 24 * time.Hour, "2018-02-04T12:00:00Z", "2018-01-29T00:00:00Z"}, // a Sunday belongs to the Monday before
		{7 * 24 * time.Hour, "2018-02-05T00:00:00Z", "2018-02-05T00:00:00Z"},
		{14 * 24 * time.Hour, "1970-01-05T00:00:00Z", "1970-01-05T00:00:00Z"},
		{7 * 24 * time.Hour, "1970-01-01T00:00:00Z", "1969-12-29T00:00:00Z"},
		{5 * time.Minute, "1970-01-01T00:04:59Z", "1970-01-01T00:00:00Z"},
		{0, "2018-02-01T00:00:00Z", "-"},
	} {
		def := &aggregate.Definition{Window: c.window}
		must.Equal(t, lanes.WindowText(lanes.WindowStart(def, must.Time(c.at))), c.want)
	}
}

// Months and years of the calendar begin on their first day in UTC, whatever their length.
func TestCalendarWindows(t *testing.T) {
	for _, c := range []struct {
		months          int
		at, start, ends string
	}{
		{1, "2026-02-28T23:59:59.999999999Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{1, "2026-03-01T00:00:00Z", "2026-03-01T00:00:00Z", "2026-04-01T00:00:00Z"},
		{1, "2026-03-01T00:30:00+01:00", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"},
		{1, "2024-02-29T12:00:00Z", "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"},
		{1, "1969-12-31T23:59:59Z", "1969-12-01T00:00:00Z", "1970-01-01T00:00:00Z"},
		{1, "2026-12-31T00:00:00Z", "2026-12-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{12, "2026-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z"},
		{12, "2024-02-29T00:00:00Z", "2024-01-01T00:00:00Z", "2025-01-01T00:00:00Z"},
		{12, "0001-06-01T00:00:00Z", "0001-01-01T00:00:00Z", "0002-01-01T00:00:00Z"},
	} {
		def := &aggregate.Definition{Window: 31 * 24 * time.Hour, Months: c.months, Retain: time.Hour}
		start := lanes.WindowStart(def, must.Time(c.at))
		// An item expires when its window has ended and its life is over, which is an hour.
		must.Equal(t, lanes.WindowText(start), c.start, c.months, c.at)
		must.Equal(t, lanes.WindowText(lanes.Expiry(def, start)-3600), c.ends, c.months, c.at)
	}
}

func TestKeys(t *testing.T) {
	start := lanes.WindowStart(daily, must.Time("2018-02-01T10:00:00Z"))
	key := lanes.Key(daily, 3, []string{"m%23 1"}, start)
	must.Equal(t, key, (event.Key{PK: "A#merchant_daily#1#3#m%23 1", SK: "2018-02-01T00:00:00Z"}))
	address, ok := lanes.ParseKey(key)
	want := aggregate.Address{Name: "merchant_daily", Since: 1, Bucket: 3, By: []string{"m%23 1"}, Window: start}
	if !ok || !reflect.DeepEqual(address, want) {
		t.Errorf("ParseKey: %v %+v", ok, address)
	}
	must.Equal(t, lanes.HeadKey(daily), (event.Key{PK: "G#merchant_daily#1", SK: "-"}))
	if d, ok := lanes.ParseID(lanes.ID(daily)); !ok || lanes.ID(daily) != "merchant_daily#1" || d.Name != "merchant_daily" || d.Since != 1 {
		t.Errorf("%s read as %+v", lanes.ID(daily), d)
	}
	for _, foreign := range []string{"", "x", "x#", "x#+1", "x#01", "x#1#2", "x#y"} {
		if d, ok := lanes.ParseID(foreign); ok {
			t.Errorf("ParseID takes %q for %+v", foreign, d)
		}
	}
	for _, foreign := range []event.Key{lanes.HeadKey(daily), lanes.EpochKey, {PK: "A#x", SK: "-"}, {PK: "A#x#y#0", SK: "-"},
		{PK: "A#x#1#0", SK: "noon"}, {},
		{PK: "A#x#+1#0", SK: "-"}, {PK: "A#x#1#00", SK: "-"}, {PK: "A#x#1#0", SK: "2018-02-01T00:00:00.5Z"}} {
		if _, ok := lanes.ParseKey(foreign); ok {
			t.Errorf("ParseKey takes %q for an aggregate item", foreign)
		}
	}
	if got, want := lanes.Expiry(daily, start), must.Time("2018-02-02T00:00:00Z").Add(400*24*time.Hour).Unix(); got != want {
		t.Errorf("expiry %d, want window end and retain, %d", got, want)
	}
	// Each is as long as a pipeline may declare. Together they are longer than a time.Duration can
	// be.
	const years = 200 * 365 * 24 * time.Hour
	long := &aggregate.Definition{Name: "long", Since: 1, Window: years, Retain: years}
	if got, want := lanes.Expiry(long, start), start+400*365*24*60*60; got != want {
		t.Errorf("expiry %d of a total of centuries, want %d", got, want)
	}
}

// The bucket is golden: an item's changes must go to one bucket for as long as its totals stand.
// Python computed the expected buckets, from the first 8 bytes of the hash as a number:
//
//	part = lambda s: struct.pack(">I", len(s.encode())) + s.encode()
//	int.from_bytes(hashlib.sha256(part(pk) + part(sk)).digest()[:8], "big") % spread
func TestItemBucket(t *testing.T) {
	for _, c := range []struct {
		key          event.Key
		spread, want int
	}{
		{event.Key{PK: "ORDER#1", SK: "ORDER"}, 7, 6},
		{event.Key{PK: "ORDER#1", SK: "ORDER"}, 100, 92},
		{event.Key{PK: "ORDER#1O", SK: "RDER"}, 7, 2}, // the same bytes except for the lengths
		{event.Key{PK: "ORDER#1O", SK: "RDER"}, 100, 71},
		{event.Key{PK: "M#größe#日本", SK: "-"}, 16, 0}, // lengths count bytes
		{event.Key{PK: "M#größe#日本", SK: "-"}, 100, 80},
		{event.Key{PK: "ORDER#1", SK: "ORDER"}, 1, 0},
	} {
		must.Equal(t, lanes.ItemBucket(c.key, c.spread), c.want)
	}
}

// Other programs compute the stored forms. This test writes them a second time, from the words of
// the design page.
func TestStoredForms(t *testing.T) {
	lane := event.Lane{StreamARN: "arn:aws:dynamodb:eu-central-1:1:table/events/stream/2026",
		ShardID: "shardId-00000001573689847184-864758bb"}
	sum := sha256.Sum256([]byte(lane.StreamARN + "\x00" + lane.ShardID))
	id := lanes.LaneIDOf(lane)
	if got, want := id.MarkAttribute(), "m:"+base64.RawURLEncoding.EncodeToString(sum[:12]); got != want {
		t.Errorf("mark attribute %q, want %q", got, want)
	}
	if got, want := id.Bucket(7), int(binary.BigEndian.Uint64(sum[:8])%7); got != want {
		t.Errorf("bucket %d, want %d", got, want)
	}

	mark := lanes.MarkAt(sequence(t, "800000000003126276362"), time.Unix(1517443200, 0))
	if got, want := hex.EncodeToString(mark[:]), "00000000000000002b5e3af16bd2d7310a"+"5a725880"; got != want {
		t.Errorf("mark %s, want 17 bytes of number and 4 of second: %s", got, want)
	}
	for text, want := range map[string]bool{"800000000003126276362": true, "800000000003126276361": true, "800000000003126276363": false,
		"0000800000000003126276362": true, "1405400000000002063282832": false} {
		must.Equal(t, mark.Covers(sequence(t, text)), want, text)
	}
	if got, err := lanes.ParseMark(mark[:]); err != nil || got != mark || !got.Created().Equal(time.Unix(1517443200, 0)) {
		t.Errorf("ParseMark: %v %v", got, err)
	}
	if _, err := lanes.ParseMark(mark[:20]); err == nil {
		t.Error("a mark of 20 bytes is taken")
	}
	if mark.Prunable(time.Unix(1517443200, 0).Add(72*time.Hour)) || !mark.Prunable(time.Unix(1517443200, 0).Add(72*time.Hour+time.Second)) {
		t.Error("a mark goes when it is more than 72 hours behind, not before")
	}

	receipt := lanes.ReceiptKey("arn", event.Key{PK: "p", SK: "s"}, sequence(t, "800000000003126276362"))
	text := sha256.Sum256([]byte("\x00\x00\x00\x03arn\x00\x00\x00\x01p\x00\x00\x00\x01s\x00\x00\x00\x15800000000003126276362"))
	must.Equal(t, receipt, (event.Key{PK: "R#" + hex.EncodeToString(text[:]), SK: "-"}))

	item := &event.Item{Key: event.Key{PK: "M", SK: "O"}, At: must.Time("2018-02-01T10:00:00Z")}
	c := lanes.Contribute(daily, item, []string{"m"}, []aggregate.Amount{{}, {Set: true, Number: event.DecimalOf(1)},
		{Set: true, Number: number(t, "12.50")}})
	term := sha256.Sum256(
		[]byte("\x00\x00\x00\x01M\x00\x00\x00\x01O\x00\x00\x00\x06orders\x00\x00\x00\x011\x00\x00\x00\x07revenue\x00\x00\x00\x0412.5"))
	must.Equal(t, c.Term, int64(binary.BigEndian.Uint64(term[:8])>>2))
}

// world is a random history of items. It also computes what they add up to, in the slow way.
type world struct {
	t    *testing.T
	rng  *rand.Rand
	next int64
	live map[event.Key]*aggregate.Contribution
}

func (w *world) contribution(key event.Key) *aggregate.Contribution {
	at := time.Unix(1517443200+w.rng.Int64N(3*86400), 0).UTC()
	merchant := string('a' + rune(w.rng.IntN(2)))
	cents := event.DecimalOf(w.rng.Int64N(2000) - 500)
	amounts := []aggregate.Amount{{Set: true, Number: cents}, {Set: true, Number: event.DecimalOf(1)}, {Set: true, Number: cents}}
	c := lanes.Contribute(daily, &event.Item{Key: key, At: at}, []string{merchant}, amounts)
	return &c
}

func list(c *aggregate.Contribution) []aggregate.Contribution {
	if c == nil {
		return nil
	}
	return []aggregate.Contribution{*c}
}

// change makes the next random change and returns what its images contribute.
func (w *world) change() (*event.Change, *aggregate.Contribution, *aggregate.Contribution) {
	w.next++
	key := event.Key{PK: "P", SK: string('A' + rune(w.rng.IntN(20)))}
	digits := []byte("000000000000000000000")
	for i, n := len(digits)-1, w.next+95; n > 0; i, n = i-1, n/10 {
		digits[i] = byte('0' + n%10)
	}
	c := &event.Change{Key: key, Sequence: sequence(w.t, string(digits)), Created: time.Unix(1517443200+w.next, 0)}
	old := w.live[key]
	switch {
	case old == nil:
		c.Kind, w.live[key] = event.Insert, w.contribution(key)
	case w.rng.IntN(2) == 0:
		c.Kind, w.live[key] = event.Modify, w.contribution(key)
		if w.rng.IntN(3) == 0 {
			w.live[key] = old
		}
	default:
		c.Kind, c.Expired = event.Remove, w.rng.IntN(2) == 0
		delete(w.live, key)
	}
	return c, old, w.live[key]
}

// However the changes are cut into batches, and however often batches are repeated (and dropped by
// marks), the result must be what is live plus what was closed.
func TestFoldsAddUp(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	for run := range uint64(200) {
		w := &world{t: t, rng: rand.New(rand.NewPCG(seed, run)), live: map[event.Key]*aggregate.Contribution{}}
		totals, marks := map[event.Key]lanes.Delta{}, map[event.Key]lanes.Mark{}
		closedTerms, closedN := map[event.Key]event.Decimal{}, map[event.Key]int64{}
		lane := event.Lane{StreamARN: "arn", ShardID: "s"}
		type delivery struct {
			c        *event.Change
			old, new *aggregate.Contribution
		}
		var pending []delivery
		deliver := func() {
			batch := lanes.NewBatch(aggregate.Marks, lane)
			for _, p := range pending {
				batch.Add(p.c, list(p.old), list(p.new))
			}
			for _, u := range batch.Updates() {
				if mark, ok := marks[u.Key]; ok {
					u.Drop(mark)
				}
				if len(u.Steps) == 0 {
					continue
				}
				d, sum := u.Fold(), totals[u.Key]
				sum.N += d.N
				sum.FP, sum.FPX = sum.FP.Add(d.FP), sum.FPX.Add(d.FPX)
				if sum.Values == nil {
					sum.Values = make([]aggregate.Amount, len(d.Values))
				}
				for i, v := range d.Values {
					sum.Values[i] = lanes.Merge(daily.Values[i].Op, sum.Values[i], v)
				}
				totals[u.Key], marks[u.Key] = sum, d.Last
			}
		}
		for range 60 {
			c, old, new := w.change()
			if c.Expired {
				key := lanes.Key(daily, lanes.LaneIDOf(lane).Bucket(4), old.By, old.Window)
				closedTerms[key] = closedTerms[key].Add(event.DecimalOf(old.Term))
				closedN[key]++
			}
			pending = append(pending, delivery{c, old, new})
			if w.rng.IntN(4) > 0 {
				continue
			}
			for repeat := true; repeat; repeat = w.rng.IntN(3) == 0 {
				deliver()
			}
			if w.rng.IntN(2) == 0 {
				pending = nil
			}
		}
		deliver()

		wantN, wantFP := map[event.Key]int64{}, map[event.Key]event.Decimal{}
		for _, c := range w.live {
			key := lanes.Key(daily, lanes.LaneIDOf(lane).Bucket(4), c.By, c.Window)
			wantN[key]++
			wantFP[key] = wantFP[key].Add(event.DecimalOf(c.Term))
		}
		for key, sum := range totals {
			if sum.N != wantN[key]+closedN[key] {
				t.Fatalf("seed %d run %d: %s has n %d, want %d live and %d closed", seed, run, key, sum.N, wantN[key], closedN[key])
			}
			if sum.FPX.Cmp(closedTerms[key]) != 0 || sum.FP.Sub(sum.FPX).Cmp(wantFP[key]) != 0 {
				t.Fatalf("seed %d run %d: %s: fingerprint off", seed, run, key)
			}
			if orders := sum.Values[1].Number; orders.Cmp(event.DecimalOf(sum.N)) != 0 {
				t.Fatalf("seed %d run %d: %s: orders %s, n %d", seed, run, key, orders, sum.N)
			}
		}
	}
}

func TestSubtractionFlagsExtremes(t *testing.T) {
	w := &world{t: t, rng: rand.New(rand.NewPCG(1, 1)), live: map[event.Key]*aggregate.Contribution{}}
	key := event.Key{PK: "P", SK: "A"}
	old := w.contribution(key)
	for _, c := range []struct {
		change event.Change
		new    *aggregate.Contribution
		flag   bool
	}{
		{event.Change{Kind: event.Remove}, nil, true},
		{event.Change{Kind: event.Remove, Expired: true}, nil, false},
		{event.Change{Kind: event.Modify}, w.contribution(key), true},
	} {
		c.change.Key, c.change.Sequence = key, sequence(t, "800000000003126276362")
		batch := lanes.NewBatch(aggregate.Marks, event.Lane{StreamARN: "a", ShardID: "s"})
		batch.Add(&c.change, list(old), list(c.new))
		flagged := false
		for _, u := range batch.Updates() {
			flagged = flagged || u.Fold().Flag != ""
		}
		must.Equal(t, flagged, c.flag)
	}
}

func TestEqualContributionsTouchNothing(t *testing.T) {
	w := &world{t: t, rng: rand.New(rand.NewPCG(1, 2)), live: map[event.Key]*aggregate.Contribution{}}
	c := w.contribution(event.Key{PK: "P", SK: "A"})
	batch := lanes.NewBatch(aggregate.Receipts, event.Lane{StreamARN: "a"})
	batch.Add(&event.Change{Kind: event.Modify, Sequence: sequence(t, "800000000003126276362")}, list(c), list(c))
	if len(batch.Updates()) != 0 || len(batch.Entries()) != 0 {
		t.Errorf("a change of nothing touches %d items", len(batch.Updates()))
	}
}
