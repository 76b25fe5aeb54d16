package model

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

// unclosedFrom is from how long a life on an event leaves the totals of its day unclosed when it
// expires.
const UnclosedFrom = (7 + 1) * 24 * time.Hour

// Unclosed reports whether a total may hold events that have expired without closing it.
func (m *Model) Unclosed(slot string, now time.Time) bool {
	name, _, window := SlotName(slot)
	if name != "daily" && name != "line_days" || m.Retain < UnclosedFrom {
		return false
	}
	start, _ := time.Parse(time.RFC3339, window) // the model has written it
	return !now.Before(start.Add(m.Retain))
}

// Part is what one image contributes to one total.
type Part struct {
	Name, By string
	day      string // another value of by, which comes first, and a #; empty: there is none
	since    int64
	Window   string
	expires  int64
	subtract bool // whether to subtract it when it expires
	unclosed bool // whether to leave it as it is then, although it is not subtracted
	spread   int
	byPut    bool // see [addPut]
	Values   map[string]int64
	max, min map[string]int64
	dated    []dated
	buckets  map[string]int // the bucket of each histogram
	met      map[string]met // what each sketch has met
	ranked   string         // the value that the total is ranked by; empty: none
	Term     int64
}

// slot returns the key of the item of a total that counts the part.
func (p Part) slot(bucket int) string {
	pk := fmt.Sprintf("A#%s#%d#%d", p.Name, p.since, bucket)
	if by := p.Escaped(); by != "" {
		pk += "#" + by
	}
	return pk + "|" + p.Window
}

// Escaped returns the values of by as keys have them.
func (p Part) Escaped() string { return p.day + strings.ReplaceAll(p.By, "#", "%23") }

// outliving returns how long the totals of a window live after its end.
func (m *Model) outliving() time.Duration { return m.Longer + 7*24*time.Hour }

// dated is a value that keeps what the newest or the oldest event says.
type dated struct {
	name   string
	oldest bool
	text   string // by whose byte order it is decided
}

// datedText returns the text of a dated value: the time, the tie and the JSON.
func datedText(img *Image, json string) string {
	sum := sha256.Sum256(Framed(img.PK, img.SK))
	return img.Time().UTC().Format("2006-01-02T15:04:05.000000000Z") + " " + hex.EncodeToString(sum[:16]) + " " + json
}

// Parts returns what an image contributes. It works that out once for each payload and stamp.
func (m *Model) Parts(img *Image) []Part {
	if img == nil || img.Barred {
		return nil
	}
	key := stamped{img.Data, img.Epoch}
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

func (m *Model) contribute(img *Image) (list []Part) {
	add := func(p Part) {
		if img.Epoch >= p.since {
			p.Term = term(img, p)
			if p.Values == nil {
				p.Values = map[string]int64{}
			}
			for name, bucket := range p.buckets {
				p.Values["h:"+name+":"+strconv.Itoa(bucket)] = 1
			}
			for _, numbers := range []map[string]int64{p.Values, p.max} {
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
		if m.Transfers {
			add(m.contributeAccount(img))
		}
		return list
	}
	switch img.Type {
	case "coupon":
		return nil
	case "payment":
		add(contributePayment(img))
		return list
	case "shelf":
		add(m.contributeShelf(img))
		return list
	}
	if m.PutSince > 0 && img.Type == "order" {
		for _, p := range m.contributePut(img) {
			add(p)
		}
	}
	if m.Noted && img.Type == "order" {
		add(contributeNote(img))
	}
	if m.Monthly {
		add(Part{Name: "sizes", since: 1, Window: "-", subtract: true, spread: 1, buckets: same(bucketOf(img.Cents), "sizes")})
		if img.Type == "order" {
			add(Part{Name: "leaders", By: img.Merchant, since: 1, Window: "-", subtract: true, spread: 1,
				Values: map[string]int64{"revenue": img.Cents}, ranked: "revenue"})
			add(Part{Name: "tallest", day: img.Time().UTC().Format(time.DateOnly + "#"), By: img.Merchant, since: 1, Window: "-", spread: 1,
				max: map[string]int64{"most": img.Cents}, dated: newestCustomer(img), ranked: "most"})
		} else {
			add(Part{Name: "leaders", By: img.Merchant, since: 1, Window: "-", subtract: true, spread: 1,
				Values: map[string]int64{"parcels": 1}})
		}
	}
	if img.Type == "order" {
		if img.Cents >= 0 || img.Gift {
			values := map[string]int64{"orders": 1, "revenue": img.Cents} // no points, because an order has no revision
			if img.Gift {
				values["gifts"] = 1
			}
			day := img.Time().UTC().Truncate(24 * time.Hour)
			add(Part{Name: "daily", By: img.Merchant, since: 1, Window: day.Format(time.RFC3339),
				expires: day.Add(24*time.Hour + m.outliving()).Unix(), spread: m.Spread, unclosed: m.Retain >= UnclosedFrom,
				Values: values, max: map[string]int64{"largest": img.Cents}, min: map[string]int64{"smallest": img.Cents}})
		}
		if m.Monthly {
			at := img.Time().UTC()
			start, end := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC),
				time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
			add(Part{Name: "monthly", By: img.Merchant, since: 1, Window: start.Format(time.RFC3339),
				expires: end.Add(m.outliving()).Unix(), spread: m.Spread,
				Values: map[string]int64{"orders": 1}, dated: monthlyDated(img), met: map[string]met{"ids": metBy(strconv.Quote(img.ID))},
				buckets: same(bucketOf(img.Cents), "a", "b", "c", "d", "e")})
		}
		add(Part{Name: "live", since: 1, Window: "-", subtract: true, spread: 1,
			Values: map[string]int64{"orders": 1, "revenue": img.Cents}})
		add(Part{Name: "status", By: img.Merchant, since: 2, Window: "-", subtract: true, spread: 1,
			Values: map[string]int64{"revenue": img.Cents}})
	} else {
		if img.Cents < 900 || img.Customer == "" {
			add(Part{Name: "live", since: 1, Window: "-", subtract: true, spread: 1, Values: map[string]int64{"parcels": 1}})
		}
		values := map[string]int64{"parcels": 1}
		if img.Rev > 2 {
			values["revisions"] = img.Rev
		}
		add(Part{Name: "status", By: img.Merchant, since: 2, Window: "-", subtract: true, spread: 1, Values: values})
	}
	return list
}

func monthlyDated(img *Image) []dated {
	return append(newestCustomer(img), dated{"first", true, datedText(img, strconv.FormatInt(img.Cents, 10))})
}

func newestCustomer(img *Image) []dated {
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

// SketchText returns the stored form of a sketch of fewer than a thousand values.
func SketchText(ranks map[int]byte) string {
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

func Framed(parts ...string) []byte {
	var text []byte
	for _, p := range parts {
		text = append(binary.BigEndian.AppendUint32(text, uint32(len(p))), p...)
	}
	return text
}

func term(img *Image, p Part) int64 {
	all := map[string]string{}
	var names []string
	for _, m := range []map[string]int64{p.Values, p.max, p.min} {
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
		all[name] = SketchText(map[int]byte{m.register: m.rank})
		names = append(names, name)
	}
	sort.Strings(names)
	text := []string{img.PK, img.SK}
	for _, name := range names {
		text = append(text, name, all[name])
	}
	sum := sha256.Sum256(Framed(text...))
	return int64(binary.BigEndian.Uint64(sum[:8]) >> 2)
}
