package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// part is what one image contributes to one total.
type part struct {
	name, by string
	since    int64
	window   string
	expires  int64
	subtract bool // whether to subtract it when it expires
	unclosed bool // whether to leave it as it is then, although it is not subtracted
	spread   int
	byPut    bool // see [addPut]
	values   map[string]int64
	max, min map[string]int64
	dated    []dated
	buckets  map[string]int // the bucket of each histogram
	met      map[string]met // what each sketch has met
	ranked   string         // the value that the total is ranked by; empty: none
	term     int64
}

// outliving returns how long the totals of a window live after its end.
func (m *model) outliving() time.Duration { return m.longer + 7*24*time.Hour }

// dated is a value that keeps what the newest or the oldest event says.
type dated struct {
	name   string
	oldest bool
	text   string // by whose byte order it is decided
}

// datedText returns the text of a dated value: the time, the tie and the JSON.
func datedText(img *image, json string) string {
	sum := sha256.Sum256(framed(img.pk, img.sk))
	return img.at().UTC().Format("2006-01-02T15:04:05.000000000Z") + " " + hex.EncodeToString(sum[:16]) + " " + json
}

// parts returns what an image contributes. It works that out once for each payload and stamp.
func (m *model) parts(img *image) []part {
	if img == nil || img.barred {
		return nil
	}
	key := stamped{img.data, img.epoch}
	list, known := m.contributed[key]
	if !known {
		list = m.contribute(img)
		m.contributed[key] = list
	}
	return list
}

// stamped holds everything that an image's contributions depend on.
type stamped struct {
	data  string
	epoch int64
}

func (m *model) contribute(img *image) (list []part) {
	add := func(p part) {
		if img.epoch >= p.since {
			p.term = term(img, p)
			if p.values == nil {
				p.values = map[string]int64{}
			}
			for name, bucket := range p.buckets {
				p.values["h:"+name+":"+strconv.Itoa(bucket)] = 1
			}
			for _, numbers := range []map[string]int64{p.values, p.max} {
				if v, there := numbers[p.ranked]; there {
					numbers["i:score"] = v
				}
			}
			list = append(list, p)
		}
	}
	if img.Type == "line" {
		for _, p := range m.contributeLine(img) {
			add(p)
		}
		if m.transfers {
			add(contributeAccount(img))
		}
		return list
	}
	if img.Type == "coupon" {
		return nil
	}
	if m.putSince > 0 && img.Type == "order" {
		for _, p := range contributePut(img, m.putSince, m.spread) {
			add(p)
		}
	}
	if m.noted && img.Type == "order" {
		add(contributeNote(img))
	}
	if m.monthly {
		add(part{name: "sizes", since: 1, window: "-", subtract: true, spread: 1, buckets: same(bucketOf(img.Cents), "sizes")})
		if img.Type == "order" {
			add(part{name: "leaders", by: img.Merchant, since: 1, window: "-", subtract: true, spread: 1,
				values: map[string]int64{"revenue": img.Cents}, ranked: "revenue"})
			add(part{name: "tallest", by: img.Merchant, since: 1, window: "-", spread: 1, max: map[string]int64{"most": img.Cents},
				dated: newestCustomer(img), ranked: "most"})
		} else {
			add(part{name: "leaders", by: img.Merchant, since: 1, window: "-", subtract: true, spread: 1,
				values: map[string]int64{"parcels": 1}})
		}
	}
	if img.Type == "order" {
		if img.Cents >= 0 || img.Gift {
			values := map[string]int64{"orders": 1, "revenue": img.Cents} // no points, because an order has no revision
			if img.Gift {
				values["gifts"] = 1
			}
			day := img.at().UTC().Truncate(24 * time.Hour)
			add(part{name: "daily", by: img.Merchant, since: 1, window: day.Format(time.RFC3339),
				expires: day.Add(24*time.Hour + m.outliving()).Unix(), spread: m.spread, unclosed: m.retain >= unclosedFrom,
				values: values, max: map[string]int64{"largest": img.Cents}, min: map[string]int64{"smallest": img.Cents}})
		}
		if m.monthly {
			at := img.at().UTC()
			start, end := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC),
				time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			add(part{name: "monthly", by: img.Merchant, since: 1, window: start.Format(time.RFC3339),
				expires: end.Add(m.outliving()).Unix(), spread: m.spread,
				values: map[string]int64{"orders": 1}, dated: monthlyDated(img), met: map[string]met{"ids": metBy(strconv.Quote(img.ID))},
				buckets: same(bucketOf(img.Cents), "a", "b", "c", "d", "e")})
		}
		add(part{name: "live", since: 1, window: "-", subtract: true, spread: 1,
			values: map[string]int64{"orders": 1, "revenue": img.Cents}})
		add(part{name: "status", by: img.Merchant, since: 2, window: "-", subtract: true, spread: 1,
			values: map[string]int64{"revenue": img.Cents}})
	} else {
		if img.Cents < 900 || img.Customer == "" {
			add(part{name: "live", since: 1, window: "-", subtract: true, spread: 1, values: map[string]int64{"parcels": 1}})
		}
		values := map[string]int64{"parcels": 1}
		if img.Rev > 2 {
			values["revisions"] = img.Rev
		}
		add(part{name: "status", by: img.Merchant, since: 2, window: "-", subtract: true, spread: 1, values: values})
	}
	return list
}

func monthlyDated(img *image) []dated {
	return append(newestCustomer(img), dated{"first", true, datedText(img, strconv.FormatInt(img.Cents, 10))})
}

func newestCustomer(img *image) []dated {
	if img.Customer == "" {
		return nil
	}
	return []dated{{"last", false, datedText(img, strconv.Quote(img.Customer))}}
}

// met is what one value does to a sketch.
type met struct {
	register int
	rank     byte
}

// metBy spells the hash of a value as bits.
func metBy(json string) met {
	sum := sha256.Sum256([]byte(json))
	bits := ""
	for _, b := range sum[:8] {
		bits += fmt.Sprintf("%08b", b)
	}
	register, _ := strconv.ParseInt(bits[:12], 2, 64)
	return met{int(register), byte(len(bits) - 12 - len(strings.TrimLeft(bits[12:], "0")) + 1)}
}

// sketchText returns the stored form of a sketch of fewer than a thousand values.
func sketchText(ranks map[int]byte) string {
	text := "\x01"
	for _, register := range slices.Sorted(maps.Keys(ranks)) {
		text += string([]byte{byte(register >> 8), byte(register), ranks[register]})
	}
	return text
}

// bucketOf returns the bucket of a whole number. Its size is at least 10^(k/47) exactly if its 47th
// power is at least 10^k, which has k+1 digits.
func bucketOf(cents int64) int {
	if cents == 0 {
		return 0
	}
	size := big.NewInt(max(cents, -cents))
	bucket := 9*47 + len(size.Exp(size, big.NewInt(47), nil).String())
	if cents < 0 {
		return -bucket
	}
	return bucket
}

func same(bucket int, names ...string) map[string]int {
	all := map[string]int{}
	for _, name := range names {
		all[name] = bucket
	}
	return all
}

func framed(parts ...string) []byte {
	var text []byte
	for _, p := range parts {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(p))), p...)
	}
	return text
}

func term(img *image, p part) int64 {
	all := map[string]string{}
	var names []string
	for _, m := range []map[string]int64{p.values, p.max, p.min} {
		for name, v := range m {
			all[name] = strconv.FormatInt(v, 10)
			names = append(names, name)
		}
	}
	for _, d := range p.dated {
		all[d.name] = d.text
		names = append(names, d.name)
	}
	for name, bucket := range p.buckets {
		all[name] = strconv.Itoa(bucket) + ":1"
		names = append(names, name)
	}
	for name, m := range p.met {
		all[name] = sketchText(map[int]byte{m.register: m.rank})
		names = append(names, name)
	}
	sort.Strings(names)
	text := []string{img.pk, img.sk}
	for _, name := range names {
		text = append(text, name, all[name])
	}
	sum := sha256.Sum256(framed(text...))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
}
