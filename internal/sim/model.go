package sim

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/big"
	"sort"
	"strconv"
	"strings"
	"time"

	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"github.com/ingot-events/ingot/event"
)

// The naive model: what every change of the stream must do to every aggregate item, worked out from the
// records themselves with the standard library, in no hurry, sharing no code with what it judges.

// image is one image of an event's item.
type image struct {
	fact
	pk, sk    string
	epoch     int64
	expiresAt int64
	digest    string
}

// change is one record of the stream.
type change struct {
	seq      string // padded: text order is number order
	old, new *image
	byTTL    bool
	counted  bool // receipts
	steps    []*step
}

// step is what a change does to one aggregate item.
type step struct {
	seq    string
	slot   *slot
	n      int64
	fp     *big.Int
	fpx    *big.Int
	values map[string]int64
	max    map[string]int64 // candidates
}

// slot is one aggregate item: what has been counted in it so far, by its own marks or receipts.
type slot struct {
	key       string
	expiresAt int64
	lanes     map[string]*laneSteps // by mark attribute
	n         int64
	fp, fpx   *big.Int
	values    map[string]int64
	max       map[string]int64
	steps     int // all that there are
	applied   int // of which so many are counted
	unmarked  bool
}

// laneSteps are a slot's steps of one lane, in order.
type laneSteps struct {
	steps   []*step
	applied int
}

type model struct {
	spread   int
	marks    bool
	arn      string
	shards   map[string][]*change
	receipts map[string]*change // by PK of the receipt
	slots    map[string]*slot   // by PK and SK
	keys     map[string]*history
	inserted int
	expired  int
}

// history is all that was ever stored of one event.
type history struct {
	live    *image
	facts   map[fact]bool
	maxRev  int64
	inserts int
	removed bool // by a person, once
	gone    []*image
}

func newModel(p *Plan, marks bool, arn string) *model {
	return &model{spread: p.Spread, marks: marks, arn: arn, shards: map[string][]*change{}, receipts: map[string]*change{}, slots: map[string]*slot{}, keys: map[string]*history{}}
}

func (m *model) history(key string) *history {
	h := m.keys[key]
	if h == nil {
		h = &history{facts: map[fact]bool{}}
		m.keys[key] = h
	}
	return h
}

func readImage(img map[string]streamtypes.AttributeValue) (*image, error) {
	if img == nil {
		return nil, nil
	}
	s := func(name string) string {
		if v, ok := img[name].(*streamtypes.AttributeValueMemberS); ok {
			return v.Value
		}
		return ""
	}
	f, err := read(s("data"))
	if err != nil {
		return nil, err
	}
	out := &image{fact: f, pk: s("PK"), sk: s("SK")}
	n := func(name string) (n int64) {
		if v, ok := img[name].(*streamtypes.AttributeValueMemberN); ok {
			n, _ = strconv.ParseInt(v.Value, 10, 64)
		}
		return n
	}
	out.epoch, out.expiresAt = n("epoch"), n("expiresAt")
	if v, ok := img["digest"].(*streamtypes.AttributeValueMemberB); ok {
		out.digest = hex.EncodeToString(v.Value)
	}
	return out, nil
}

// record takes the next record of a shard; nil if it is none of Ingot's.
func (m *model) record(shard string, r streamtypes.Record) (*change, error) {
	c := &change{seq: pad(*r.Dynamodb.SequenceNumber)}
	for _, img := range []map[string]streamtypes.AttributeValue{r.Dynamodb.OldImage, r.Dynamodb.NewImage} {
		if img != nil && img["type"] == nil {
			return nil, nil
		}
	}
	var err error
	if c.old, err = readImage(r.Dynamodb.OldImage); err != nil {
		return nil, err
	}
	if c.new, err = readImage(r.Dynamodb.NewImage); err != nil {
		return nil, err
	}
	c.byTTL = r.UserIdentity != nil && *r.UserIdentity.PrincipalId == "dynamodb.amazonaws.com"
	m.shards[shard] = append(m.shards[shard], c)
	m.route(shard, c)
	if !m.marks {
		m.receipts[receiptPK(m.arn, c, *r.Dynamodb.SequenceNumber)] = c
	}
	m.remember(c)
	return c, nil
}

func (m *model) remember(c *change) {
	if c.new != nil {
		h := m.history(c.new.key())
		if c.old == nil {
			h.inserts++
			m.inserted++
		}
		h.live, h.facts[c.new.fact], h.maxRev = c.new, true, max(h.maxRev, c.new.Rev)
		return
	}
	h := m.history(c.old.key())
	h.live = nil
	if c.byTTL {
		m.expired++
		h.gone = append(h.gone, c.old)
	} else {
		h.removed = true
	}
}

func (i *image) digestOf() event.Digest {
	d, _ := event.ParseDigest(i.digest)
	return d
}

// slotName takes the key of an aggregate item apart.
func slotName(key string) (name, by, window string) {
	pk, window, _ := strings.Cut(key, "|")
	parts := strings.SplitN(pk, "#", 5)
	if len(parts) == 5 {
		by = parts[4]
	}
	return parts[1], by, window
}

// aggregates is how many aggregates something contributed to.
func (m *model) aggregates() int {
	names := map[string]bool{}
	for key := range m.slots {
		name, _, _ := slotName(key)
		names[name] = true
	}
	return len(names)
}

// part is what one image contributes to one total.
type part struct {
	name, by string
	since    int64
	window   string
	expires  int64
	subtract bool // when it expires
	spread   int
	values   map[string]int64
	max      map[string]int64
	term     int64
}

func (m *model) parts(img *image) []part {
	if img == nil {
		return nil
	}
	var list []part
	add := func(p part) {
		if img.epoch >= p.since {
			p.term = term(img, p)
			list = append(list, p)
		}
	}
	if img.Type == "order" {
		day := img.at().UTC().Truncate(24 * time.Hour)
		add(part{name: "daily", by: img.Merchant, since: 1, window: day.Format(time.RFC3339), expires: day.Add((24 + 240) * time.Hour).Unix(), spread: m.spread,
			values: map[string]int64{"orders": 1, "revenue": img.Cents}, max: map[string]int64{"largest": img.Cents}})
		add(part{name: "live", since: 1, window: "-", subtract: true, spread: 1, values: map[string]int64{"orders": 1, "revenue": img.Cents}})
		add(part{name: "status", by: img.Merchant, since: 2, window: "-", subtract: true, spread: 1, values: map[string]int64{"revenue": img.Cents}})
	} else {
		add(part{name: "live", since: 1, window: "-", subtract: true, spread: 1, values: map[string]int64{"parcels": 1}})
		add(part{name: "status", by: img.Merchant, since: 2, window: "-", subtract: true, spread: 1, values: map[string]int64{"parcels": 1}})
	}
	return list
}

func framed(parts ...string) []byte {
	var text []byte
	for _, p := range parts {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(p))), p...)
	}
	return text
}

func term(img *image, p part) int64 {
	all := map[string]int64{}
	var names []string
	for _, m := range []map[string]int64{p.values, p.max} {
		for name, v := range m {
			all[name] = v
			names = append(names, name)
		}
	}
	sort.Strings(names)
	text := []string{img.pk, img.sk}
	for _, name := range names {
		text = append(text, name, strconv.FormatInt(all[name], 10))
	}
	sum := sha256.Sum256(framed(text...))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
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
	h := m.laneHash(shard)
	if !m.marks {
		h = sha256.Sum256(framed(img.pk, img.sk))
	}
	return int(binary.BigEndian.Uint64(h[:8]) % uint64(spread))
}

// route works out the steps of a change.
func (m *model) route(shard string, c *change) {
	old, new := m.parts(c.old), m.parts(c.new)
	at := func(img *image, p part) string {
		pk := fmt.Sprintf("A#%s#%d#%d", p.name, p.since, m.bucket(shard, img, p.spread))
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
			steps[key] = &step{seq: c.seq, slot: m.slot(key, p.expires), fp: new1(), fpx: new1(), values: map[string]int64{}, max: map[string]int64{}}
			order = append(order, key)
		}
		return steps[key]
	}
	for _, p := range old {
		same := false
		for _, q := range new {
			same = same || (q.term == p.term && at(c.old, p) == at(c.new, q))
		}
		if same {
			continue
		}
		s := touch(c.old, p)
		if c.byTTL && !p.subtract {
			s.fpx.Add(s.fpx, big.NewInt(p.term))
			continue
		}
		s.n--
		s.fp.Sub(s.fp, big.NewInt(p.term))
		for name, v := range p.values {
			s.values[name] -= v
		}
	}
	for _, q := range new {
		same := false
		for _, p := range old {
			same = same || (q.term == p.term && at(c.old, p) == at(c.new, q))
		}
		if same {
			continue
		}
		s := touch(c.new, q)
		s.n++
		s.fp.Add(s.fp, big.NewInt(q.term))
		for name, v := range q.values {
			s.values[name] += v
		}
		for name, v := range q.max {
			s.max[name] = v
		}
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

// applyAll counts every step there is.
func (s *slot) applyAll() {
	for _, l := range s.lanes {
		for ; l.applied < len(l.steps); l.applied++ {
			l.steps[l.applied].apply()
		}
	}
}

func new1() *big.Int { return new(big.Int) }

func (m *model) slot(key string, expires int64) *slot {
	s := m.slots[key]
	if s == nil {
		s = &slot{key: key, expiresAt: expires, lanes: map[string]*laneSteps{}, fp: new1(), fpx: new1(), values: map[string]int64{}, max: map[string]int64{}}
		m.slots[key] = s
	}
	return s
}

// apply counts a step in its slot.
func (s *step) apply() {
	t := s.slot
	t.applied++
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
}
