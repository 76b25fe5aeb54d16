// Package model is what the worlds of sim are judged by: what an event says, what its item must
// hold, and what every change of the stream must do to every aggregate item. It uses the records
// themselves and the standard library. It need not be fast, and it shares no code with what it
// judges.
package model

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"
)

// strangeEpoch is the stamp that a person writes by hand. No pipeline has it now or ever will.
const StrangeEpoch = 77

// Change is one record of the stream.
type Change struct {
	Seq      string // padded: text order is number order
	Old, New *Image
	at       time.Time // in whole seconds
	Expired  bool      // it removes an item whose time was over
	Counted  bool      // a receipt has counted it
	Steps    []*Step
}

// String says what has changed, for a trace.
func (c *Change) String() string {
	what, img := "is inserted", c.New
	switch {
	case c.New == nil && c.Expired:
		what, img = "expires", c.Old
	case c.New == nil:
		what, img = "is removed", c.Old
	case c.New.Barred:
		what = "is barred"
	case c.Old != nil && c.Old.Fact == c.New.Fact:
		what = "is touched"
	case c.Old != nil:
		what = "is replaced"
	}
	return fmt.Sprintf("%s (%d cents, revision %d, epoch %d) %s: record ...%s", img.Key(), img.Cents, img.Rev, img.Epoch, what, c.Seq[28:])
}

// Step is what one change does to one aggregate item.
type Step struct {
	Seq     string
	Slot    *Slot
	N       int64
	FP      *big.Int
	FPX     *big.Int
	Values  map[string]int64
	max     map[string]int64 // candidates
	min     map[string]int64
	dated   []dated // candidates
	met     map[string]met
	Removes bool // it takes something back that had not expired
	spoils  bool // it takes away a value that an extreme cannot give back
	plus    []Part
	minus   []Part // without what has expired and is kept
}

// Slot is one aggregate item, with what has been counted in it so far according to its own marks or
// receipts.
type Slot struct {
	Key       string
	ExpiresAt int64
	Lanes     map[string]*laneSteps // by mark attribute
	N         int64
	FP, FPX   *big.Int
	Values    map[string]int64
	Max, Min  map[string]int64
	Texts     map[string]string // dated values
	Sketches  map[string]map[int]byte
	Flagged   bool
	Steps     int // all there are
	Applied   int // how many of them are counted
	Unmarked  bool
	Damaged   bool           // a person has spoiled it, so some changes are refused
	Filled    bool           // it may not even have room for a flag
	ByPut     bool           // the put of an order has moved it
	Taken     bool           // in the request that is being checked, a put took from its bounded sum
	Removed   bool           // in that request, something was taken back that had not expired
	Took      int64          // what that request has added to its bounded sum by the stream
	Levels    []Level        // of its bounded sum
	live      map[int64]live // what it counts, by term; see [model.mend]
	Mended    bool           // somebody has mended it in the request that is being checked
	Waiting   []*Step        // of a damaged slot: steps that its marks or receipts passed, and that nobody has looked at yet
}

// laneSteps holds the steps of one lane in a slot, in order.
type laneSteps struct {
	Steps   []*Step
	Applied int
}

// Config is what is declared in a world.
type Config struct {
	Spread         int           // write shards of the hot aggregate
	Retain, Longer time.Duration // how long events live, before and after a pipeline keeps them longer
	Patterns       bool          // there are indexes for patterns
	LinesSince     int64         // the epoch from which on the lines of orders are parts; 0: never
	Monthly        bool          // the aggregate of months is declared
	Secret         string        // of hmac
	NewForm        bool          // newer code stores payloads in a form that older code cannot read
	PutSince       int64         // the epoch from which on orders move totals with their put; 0: never
	Ceiling        bool          // of these totals, those with a bound have a ceiling, and not a floor
	Noted          bool          // the aggregate of notes is declared
	Transfers      bool          // lines move accounts with the put
	Marks          bool          // totals are counted by marks
	ARN            string        // of the stream
}

// Model knows what every change of the stream must do.
type Model struct {
	Config
	Shards         map[string][]*Change
	Receipts       map[string]*Change // by PK of the receipt
	Slots          map[string]*Slot   // by PK and SK
	Keys           map[string]*History
	Inserted       int
	Expired        int
	Records        int                       // of events, so far
	read           map[string]Fact           // payloads that were read
	stored         map[Fact]map[string]Typed // what an event's item must hold
	contributed    map[stamped][]Part
	Objects        map[Object]bool              // what the archive may hold
	Texts          map[[sha256.Size]byte]string // payloads that were sent, by the hash of their bytes
	Lost           map[[sha256.Size]byte]bool   // payloads that somebody has deleted, for a time at least
	Instead        map[Object]Object            // what the archive may hold in place of an object whose payload is lost
	WithoutPayload map[Object]*Image            // of what these objects are
}

// New returns a model that has seen nothing.
func New(c Config) *Model {
	return &Model{Config: c, Shards: map[string][]*Change{}, Receipts: map[string]*Change{}, Slots: map[string]*Slot{},
		Keys: map[string]*History{}, read: map[string]Fact{}, stored: map[Fact]map[string]Typed{}, contributed: map[stamped][]Part{},
		Objects: map[Object]bool{}, Texts: map[[sha256.Size]byte]string{}, Lost: map[[sha256.Size]byte]bool{},
		Instead: map[Object]Object{}, WithoutPayload: map[Object]*Image{}}
}

func (m *Model) History(key string) *History {
	h := m.Keys[key]
	if h == nil {
		h = &History{Facts: map[Fact]bool{}}
		m.Keys[key] = h
	}
	return h
}

// Record takes the next record of a shard. It returns nil if the record is not of an event.
func (m *Model) Record(shard string, r streamtypes.Record) (*Change, error) {
	c := &Change{Seq: Pad(*r.Dynamodb.SequenceNumber), at: *r.Dynamodb.ApproximateCreationDateTime}
	for _, img := range []map[string]streamtypes.AttributeValue{r.Dynamodb.OldImage, r.Dynamodb.NewImage} {
		if img != nil && img["type"] == nil && img["i:barred"] == nil {
			return nil, nil
		}
	}
	var err error
	if c.Old, err = m.readImage(r.Dynamodb.OldImage); err != nil {
		return nil, err
	}
	if c.New, err = m.readImage(r.Dynamodb.NewImage); err != nil {
		return nil, err
	}
	if c.New == nil && !c.Old.Barred {
		c.Expired = c.Old.ExpiresAt <= r.Dynamodb.ApproximateCreationDateTime.Unix() // everything in a world expires
	}
	strange := c.Old != nil && c.Old.Epoch == StrangeEpoch || c.New != nil && c.New.Epoch == StrangeEpoch
	if strange || (c.Old == nil || c.Old.Barred) && (c.New == nil || c.New.Barred) { // no event appears or disappears
		m.Remember(c)
		return c, nil
	}
	m.Shards[shard] = append(m.Shards[shard], c)
	m.route(shard, c)
	if !m.Marks {
		m.Receipts[receiptPK(m.ARN, c, *r.Dynamodb.SequenceNumber)] = c
	}
	m.Remember(c)
	return c, nil
}

// SlotName splits the key of an aggregate item into its parts.
func SlotName(key string) (name, by, window string) {
	pk, window, _ := strings.Cut(key, "|")
	parts := strings.SplitN(pk, "#", 5)
	if len(parts) == 5 {
		by = parts[4]
	}
	return parts[1], by, window
}

// Aggregates returns how many aggregates got a contribution.
func (m *Model) Aggregates() int {
	names := map[string]bool{}
	for key := range m.Slots {
		name, _, _ := SlotName(key)
		names[name] = true
	}
	return len(names)
}

func Pad(seq string) string {
	const zeros = "0000000000000000000000000000000000000000"
	return zeros[len(seq):] + seq
}

func receiptPK(arn string, c *Change, seq string) string {
	img := c.New
	if img == nil {
		img = c.Old
	}
	sum := sha256.Sum256(Framed(arn, img.PK, img.SK, seq))
	return "R#" + hex.EncodeToString(sum[:])
}

func (m *Model) LaneHash(shard string) [32]byte { return sha256.Sum256([]byte(m.ARN + "\x00" + shard)) }

func (m *Model) bucket(shard string, img *Image, spread int) int {
	if !m.Marks {
		return bucketOfItem(img, spread)
	}
	h := m.LaneHash(shard)
	return int(binary.BigEndian.Uint64(h[:8]) % uint64(spread))
}

func bucketOfItem(img *Image, spread int) int {
	h := sha256.Sum256(Framed(img.PK, img.SK))
	return int(binary.BigEndian.Uint64(h[:8]) % uint64(spread))
}

// route works out the steps of a change.
func (m *Model) route(shard string, c *Change) {
	old, new := m.Parts(c.Old), m.Parts(c.New)
	at := func(img *Image, p Part) string {
		bucket := m.bucket(shard, img, p.spread)
		if img == c.New && countedByPut(c, p) {
			bucket = bucketOfItem(img, p.spread)
		}
		return p.slot(bucket)
	}
	steps := map[string]*Step{}
	var order []string
	touch := func(img *Image, p Part) *Step {
		key := at(img, p)
		if steps[key] == nil {
			steps[key] = &Step{Seq: c.Seq, Slot: m.Slot(key, p.expires), FP: zero(), FPX: zero(), Values: map[string]int64{},
				max: map[string]int64{}, min: map[string]int64{}}
			order = append(order, key)
		}
		return steps[key]
	}
	stays := func(p, q Part) bool { return q.Term == p.Term && at(c.Old, p) == at(c.New, q) }
	for _, p := range old {
		if slices.ContainsFunc(new, func(q Part) bool { return stays(p, q) }) {
			continue
		}
		if c.Expired && p.unclosed {
			continue
		}
		s := touch(c.Old, p)
		if c.Expired && !p.subtract {
			s.FPX.Add(s.FPX, big.NewInt(p.Term))
			continue
		}
		s.N--
		s.Removes, s.minus = true, append(s.minus, p)
		s.FP.Sub(s.FP, big.NewInt(p.Term))
		for name, v := range p.Values {
			s.Values[name] -= v
		}
		s.spoils = len(p.max)+len(p.min)+len(p.dated)+len(p.met) > 0
	}
	for _, q := range new {
		if slices.ContainsFunc(old, func(p Part) bool { return stays(p, q) }) {
			continue
		}
		if countedByPut(c, q) {
			m.ApplyPut(at(c.New, q), q)
			continue
		}
		s := touch(c.New, q)
		s.plus = append(s.plus, q)
		s.N++
		s.FP.Add(s.FP, big.NewInt(q.Term))
		for name, v := range q.Values {
			s.Values[name] += v
		}
		for name, v := range q.max {
			s.max[name] = v
		}
		for name, v := range q.min {
			s.min[name] = v
		}
		s.dated, s.met = q.dated, q.met
	}
	hash := m.LaneHash(shard)
	lane := "m:" + base64.RawURLEncoding.EncodeToString(hash[:12])
	for _, key := range order {
		s := steps[key]
		c.Steps = append(c.Steps, s)
		l := s.Slot.Lanes[lane]
		if l == nil {
			l = &laneSteps{}
			s.Slot.Lanes[lane] = l
		}
		l.Steps = append(l.Steps, s)
		s.Slot.Steps++
	}
}

// ApplyAll counts every step of the slot.
func (s *Slot) ApplyAll() {
	for _, l := range s.Lanes {
		for ; l.Applied < len(l.Steps); l.Applied++ {
			l.Steps[l.Applied].Apply()
		}
	}
}

func zero() *big.Int { return new(big.Int) }

func newSlot(key string, expires int64) *Slot {
	return &Slot{Key: key, ExpiresAt: expires, Lanes: map[string]*laneSteps{}, FP: zero(), FPX: zero(), Values: map[string]int64{},
		Max: map[string]int64{}, Min: map[string]int64{}, Texts: map[string]string{}, Sketches: map[string]map[int]byte{}}
}

func (m *Model) Slot(key string, expires int64) *Slot {
	s := m.Slots[key]
	if s == nil {
		s = newSlot(key, expires)
		m.Slots[key] = s
	}
	return s
}

// Apply counts a step in its slot.
func (s *Step) Apply() {
	t := s.Slot
	t.Applied++
	if t.Damaged {
		t.Waiting = append(t.Waiting, s)
		return
	}
	s.keep()
	t.Removed = t.Removed || s.Removes
	t.Took += left(s.Values)
	t.N += s.N
	t.FP.Add(t.FP, s.FP)
	t.FPX.Add(t.FPX, s.FPX)
	for name, v := range s.Values {
		t.Values[name] += v
	}
	for name, v := range s.max {
		if had, ok := t.Max[name]; !ok || v > had {
			t.Max[name] = v
		}
	}
	for name, v := range s.min {
		if had, ok := t.Min[name]; !ok || v < had {
			t.Min[name] = v
		}
	}
	for _, d := range s.dated {
		if had, ok := t.Texts[d.name]; !ok || (d.text > had) != d.oldest {
			t.Texts[d.name] = d.text
		}
	}
	for name, m := range s.met {
		if t.Sketches[name] == nil {
			t.Sketches[name] = map[int]byte{}
		}
		t.Sketches[name][m.register] = max(t.Sketches[name][m.register], m.rank)
	}
	t.Flagged = t.Flagged || s.spoils
}
