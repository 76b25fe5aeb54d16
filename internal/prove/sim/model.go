package sim

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

// The naive model works out what every change of the stream must do to every aggregate item. It
// uses the records themselves and the standard library. It need not be fast, and it shares no code
// with what it judges.

// change is one record of the stream.
type change struct {
	seq      string // padded: text order is number order
	old, new *image
	at       time.Time // in whole seconds
	expired  bool      // it removes an item whose time was over
	counted  bool      // a receipt has counted it
	steps    []*step
}

// step is what one change does to one aggregate item.
type step struct {
	seq     string
	slot    *slot
	n       int64
	fp      *big.Int
	fpx     *big.Int
	values  map[string]int64
	max     map[string]int64 // candidates
	min     map[string]int64
	dated   []dated // candidates
	met     map[string]met
	removes bool // it takes something back that had not expired
	spoils  bool // it takes away a value that an extreme cannot give back
	plus    []part
	minus   []part // without what has expired and is kept
}

// slot is one aggregate item, with what has been counted in it so far according to its own marks or
// receipts.
type slot struct {
	key       string
	expiresAt int64
	lanes     map[string]*laneSteps // by mark attribute
	n         int64
	fp, fpx   *big.Int
	values    map[string]int64
	max, min  map[string]int64
	texts     map[string]string // dated values
	sketches  map[string]map[int]byte
	flagged   bool
	steps     int // all there are
	applied   int // how many of them are counted
	unmarked  bool
	damaged   bool           // a person has spoiled it, so some changes are refused
	filled    bool           // it may not even have room for a flag
	byPut     bool           // the put of an order has moved it
	taken     bool           // in the request that is being checked, a put took from its floored sum
	removed   bool           // in that request, something was taken back that had not expired
	took      int64          // what that request has added to its floored sum by the stream
	levels    []level        // of its floored sum
	live      map[int64]live // what it counts, by term; see [model.mend]
	mended    bool           // somebody has mended it in the request that is being checked
	waiting   []*step        // of a damaged slot: steps that its marks or receipts passed, and that nobody has looked at yet
}

// laneSteps holds the steps of one lane in a slot, in order.
type laneSteps struct {
	steps   []*step
	applied int
}

type model struct {
	spread         int
	retain, longer time.Duration // how long events live: see [Plan.Retain]
	patterns       bool          // see [Plan.Patterns]
	linesSince     int64         // see [Plan.Parts]
	monthly        bool          // the aggregate of months is declared
	secret         string        // of hmac
	newForm        bool          // see [Plan.NewForm]
	putSince       int64         // see [Plan.Put]
	noted          bool          // the aggregate of notes is declared
	transfers      bool          // see [Plan.Transfers]
	marks          bool
	arn            string
	shards         map[string][]*change
	receipts       map[string]*change // by PK of the receipt
	slots          map[string]*slot   // by PK and SK
	keys           map[string]*history
	inserted       int
	expired        int
	records        int                       // of events, so far
	read           map[string]fact           // payloads that were read
	stored         map[fact]map[string]typed // what an event's item must hold
	contributed    map[stamped][]part
	objects        map[object]bool              // what the archive may hold
	texts          map[[sha256.Size]byte]string // payloads that were sent, by the hash of their bytes
	lost           map[[sha256.Size]byte]bool   // payloads that somebody has deleted, for a time at least
	instead        map[object]object            // what the archive may hold in place of an object whose payload is lost
	withoutPayload map[object]*image            // of what these objects are
}

func newModel(p *Plan, marks bool, arn string) *model {
	return &model{spread: p.Spread, retain: p.retain(), longer: p.longer(),
		monthly: p.Values, patterns: p.Patterns, linesSince: p.Parts, secret: p.secret(), newForm: p.NewForm,
		putSince: p.Put, noted: p.Offload > 0, transfers: p.Transfers, marks: marks, arn: arn, shards: map[string][]*change{},
		receipts: map[string]*change{}, slots: map[string]*slot{}, keys: map[string]*history{},
		read: map[string]fact{}, stored: map[fact]map[string]typed{}, contributed: map[stamped][]part{}, objects: map[object]bool{},
		texts: map[[sha256.Size]byte]string{}, lost: map[[sha256.Size]byte]bool{}, instead: map[object]object{},
		withoutPayload: map[object]*image{}}
}

func (m *model) history(key string) *history {
	h := m.keys[key]
	if h == nil {
		h = &history{facts: map[fact]bool{}}
		m.keys[key] = h
	}
	return h
}

// record takes the next record of a shard. It returns nil if the record is not of an event.
func (m *model) record(shard string, r streamtypes.Record) (*change, error) {
	c := &change{seq: pad(*r.Dynamodb.SequenceNumber), at: *r.Dynamodb.ApproximateCreationDateTime}
	for _, img := range []map[string]streamtypes.AttributeValue{r.Dynamodb.OldImage, r.Dynamodb.NewImage} {
		if img != nil && img["type"] == nil && img["i:barred"] == nil {
			return nil, nil
		}
	}
	var err error
	if c.old, err = m.readImage(r.Dynamodb.OldImage); err != nil {
		return nil, err
	}
	if c.new, err = m.readImage(r.Dynamodb.NewImage); err != nil {
		return nil, err
	}
	if c.new == nil && !c.old.barred {
		c.expired = c.old.expiresAt <= r.Dynamodb.ApproximateCreationDateTime.Unix() // everything in a world expires
	}
	strange := c.old != nil && c.old.epoch == strangeEpoch || c.new != nil && c.new.epoch == strangeEpoch
	if strange || (c.old == nil || c.old.barred) && (c.new == nil || c.new.barred) { // no event appears or disappears
		m.remember(c)
		return c, nil
	}
	m.shards[shard] = append(m.shards[shard], c)
	m.route(shard, c)
	if !m.marks {
		m.receipts[receiptPK(m.arn, c, *r.Dynamodb.SequenceNumber)] = c
	}
	m.remember(c)
	return c, nil
}

// slotName splits the key of an aggregate item into its parts.
func slotName(key string) (name, by, window string) {
	pk, window, _ := strings.Cut(key, "|")
	parts := strings.SplitN(pk, "#", 5)
	if len(parts) == 5 {
		by = parts[4]
	}
	return parts[1], by, window
}

// aggregates returns how many aggregates got a contribution.
func (m *model) aggregates() int {
	names := map[string]bool{}
	for key := range m.slots {
		name, _, _ := slotName(key)
		names[name] = true
	}
	return len(names)
}

func pad(seq string) string {
	const zeros = "0000000000000000000000000000000000000000"
	return zeros[len(seq):] + seq
}

func receiptPK(arn string, c *change, seq string) string {
	img := c.new
	if img == nil {
		img = c.old
	}
	sum := sha256.Sum256(framed(arn, img.pk, img.sk, seq))
	return "R#" + hex.EncodeToString(sum[:])
}

func (m *model) laneHash(shard string) [32]byte { return sha256.Sum256([]byte(m.arn + "\x00" + shard)) }

func (m *model) bucket(shard string, img *image, spread int) int {
	if !m.marks {
		return bucketOfItem(img, spread)
	}
	h := m.laneHash(shard)
	return int(binary.BigEndian.Uint64(h[:8]) % uint64(spread))
}

func bucketOfItem(img *image, spread int) int {
	h := sha256.Sum256(framed(img.pk, img.sk))
	return int(binary.BigEndian.Uint64(h[:8]) % uint64(spread))
}

// route works out the steps of a change.
func (m *model) route(shard string, c *change) {
	old, new := m.parts(c.old), m.parts(c.new)
	at := func(img *image, p part) string {
		bucket := m.bucket(shard, img, p.spread)
		if img == c.new && countedByPut(c, p) {
			bucket = bucketOfItem(img, p.spread)
		}
		pk := fmt.Sprintf("A#%s#%d#%d", p.name, p.since, bucket)
		if p.by != "" {
			pk += "#" + strings.ReplaceAll(p.by, "#", "%23")
		}
		return pk + "|" + p.window
	}
	steps := map[string]*step{}
	var order []string
	touch := func(img *image, p part) *step {
		key := at(img, p)
		if steps[key] == nil {
			steps[key] = &step{seq: c.seq, slot: m.slot(key, p.expires), fp: new1(), fpx: new1(), values: map[string]int64{},
				max: map[string]int64{}, min: map[string]int64{}}
			order = append(order, key)
		}
		return steps[key]
	}
	stays := func(p, q part) bool { return q.term == p.term && at(c.old, p) == at(c.new, q) }
	for _, p := range old {
		if slices.ContainsFunc(new, func(q part) bool { return stays(p, q) }) {
			continue
		}
		if c.expired && p.unclosed {
			continue
		}
		s := touch(c.old, p)
		if c.expired && !p.subtract {
			s.fpx.Add(s.fpx, big.NewInt(p.term))
			continue
		}
		s.n--
		s.removes, s.minus = true, append(s.minus, p)
		s.fp.Sub(s.fp, big.NewInt(p.term))
		for name, v := range p.values {
			s.values[name] -= v
		}
		s.spoils = len(p.max)+len(p.min)+len(p.dated)+len(p.met) > 0
	}
	for _, q := range new {
		if slices.ContainsFunc(old, func(p part) bool { return stays(p, q) }) {
			continue
		}
		if countedByPut(c, q) {
			m.applyPut(at(c.new, q), q)
			continue
		}
		s := touch(c.new, q)
		s.plus = append(s.plus, q)
		s.n++
		s.fp.Add(s.fp, big.NewInt(q.term))
		for name, v := range q.values {
			s.values[name] += v
		}
		for name, v := range q.max {
			s.max[name] = v
		}
		for name, v := range q.min {
			s.min[name] = v
		}
		s.dated, s.met = q.dated, q.met
	}
	hash := m.laneHash(shard)
	lane := "m:" + base64.RawURLEncoding.EncodeToString(hash[:12])
	for _, key := range order {
		s := steps[key]
		c.steps = append(c.steps, s)
		l := s.slot.lanes[lane]
		if l == nil {
			l = &laneSteps{}
			s.slot.lanes[lane] = l
		}
		l.steps = append(l.steps, s)
		s.slot.steps++
	}
}

// applyAll counts every step of the slot.
func (s *slot) applyAll() {
	for _, l := range s.lanes {
		for ; l.applied < len(l.steps); l.applied++ {
			l.steps[l.applied].apply()
		}
	}
}

func new1() *big.Int { return new(big.Int) }

func newSlot(key string, expires int64) *slot {
	return &slot{key: key, expiresAt: expires, lanes: map[string]*laneSteps{}, fp: new1(), fpx: new1(), values: map[string]int64{},
		max: map[string]int64{}, min: map[string]int64{}, texts: map[string]string{}, sketches: map[string]map[int]byte{}}
}

func (m *model) slot(key string, expires int64) *slot {
	s := m.slots[key]
	if s == nil {
		s = newSlot(key, expires)
		m.slots[key] = s
	}
	return s
}

// apply counts a step in its slot.
func (s *step) apply() {
	t := s.slot
	t.applied++
	if t.damaged {
		t.waiting = append(t.waiting, s)
		return
	}
	s.keep()
	t.removed = t.removed || s.removes
	t.took += s.values["cents"]
	t.n += s.n
	t.fp.Add(t.fp, s.fp)
	t.fpx.Add(t.fpx, s.fpx)
	for name, v := range s.values {
		t.values[name] += v
	}
	for name, v := range s.max {
		if had, ok := t.max[name]; !ok || v > had {
			t.max[name] = v
		}
	}
	for name, v := range s.min {
		if had, ok := t.min[name]; !ok || v < had {
			t.min[name] = v
		}
	}
	for _, d := range s.dated {
		if had, ok := t.texts[d.name]; !ok || (d.text > had) != d.oldest {
			t.texts[d.name] = d.text
		}
	}
	for name, m := range s.met {
		if t.sketches[name] == nil {
			t.sketches[name] = map[int]byte{}
		}
		t.sketches[name][m.register] = max(t.sketches[name][m.register], m.rank)
	}
	t.flagged = t.flagged || s.spoils
}
