package check

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/rules"
	"github.com/ingot-events/ingot/internal/tool/estimate"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/keys"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/pipeline/pattern"
)

// Pattern says what one page of an access pattern takes: 50 items of 1 KB, or one of each type if
// the partition key is that of one event, or one total of 1 KB.
type Pattern struct {
	Name          string   `json:"name"`
	Request       string   `json:"request"`  // GetItem or Query, and its key
	Requests      int      `json:"requests"` // of a page, sent side by side
	Units         float64  `json:"units"`    // read units of a page
	Rate          int64    `json:"rate,omitempty"`
	DollarsAMonth *float64 `json:"dollarsAMonth,omitempty"` // at that rate; absent without prices
}

// Hot is a partition key that all writes of one moment share, because it is made of constants,
// times and types.
type Hot struct {
	Key     string `json:"key"` // order.placed GSI2
	Shards  int    `json:"shards"`
	Ceiling int    `json:"ceiling"` // write units a second that all of them take
	// EnoughShards is the N of a shard:N that is enough for the rate. It is 0 if the key is good
	// enough already, or if no rate is given.
	EnoughShards int `json:"enoughShards,omitempty"`
}

const (
	pageItems     = 50
	secondsAMonth = 730 * 3600 // as AWS bills it
)

// patterns prices the patterns, and checks the indexes that they read and those that no pattern
// reads.
func (r *Report) patterns(in Input, p *pipeline.Pipeline, at rules.Places) {
	read := map[string]bool{}
	for _, pattern := range p.Patterns() {
		r.sorted(pattern, at)
		read[pattern.Index()] = true
		r.Patterns = append(r.Patterns, pricePattern(p, pattern, in.ReadUnit))
	}
	if len(r.Patterns) > 0 {
		for _, name := range p.Indexes() {
			if pos, ok := at.Index(name); ok && !read[name] {
				at.Warn("index-unread", pos,
					"no pattern reads "+name+", and each event in it costs one write unit more", "a pattern with index: "+name+
						" among the patterns, or the event types without it")
			}
		}
	}
	r.hot(in, p, at)
}

func pricePattern(p *pipeline.Pipeline, pattern *pattern.Pattern, readUnit float64) Pattern {
	row := Pattern{Name: pattern.Name(), Request: pattern.Request(), Rate: pattern.Rate()}
	switch {
	case pattern.Top() > 0: // the head, each shard of the index, and each total, consistently
		def, _ := p.Definition(pattern.Total())
		top := float64(pattern.Top())
		row.Requests = 1 + def.Rank.Shards + int(math.Ceil(top/100))
		row.Units = 1 + float64(def.Rank.Shards)*0.5*math.Ceil(min(top, 100)/40) + top
	case pattern.Total() != "":
		def, _ := p.Definition(pattern.Total())
		row.Requests, row.Units = 1+def.Spread, float64(1+def.Spread) // the head, and each item; consistently
	case strings.HasPrefix(row.Request, "GetItem"):
		row.Requests, row.Units = 1, 0.5
	default:
		row.Requests = pattern.Partitions()
		each := float64(itemsOf(p, pattern))
		if row.Requests > 1 {
			mean := each / float64(row.Requests)
			each = math.Ceil(mean + 1.25*math.Sqrt(mean))
		}
		row.Units = float64(row.Requests) * math.Ceil(each/4) / 2
	}
	if row.Rate > 0 && readUnit > 0 {
		dollars := float64(row.Rate) * secondsAMonth * row.Units * readUnit
		row.DollarsAMonth = &dollars
	}
	return row
}

// itemsOf returns how many items a page of a pattern has.
func itemsOf(p *pipeline.Pipeline, pattern *pattern.Pattern) int {
	types := pattern.Types()
	if slices.ContainsFunc(types, func(typ string) bool { return !isAlone(p, typ, pattern.Index()) }) {
		return pageItems
	}
	return len(types)
}

// isAlone reports whether a partition has at most one event of a type: its key shows the id, or all
// that a claim of the event shows.
func isAlone(p *pipeline.Pipeline, typ, index string) bool {
	spec := p.Describe().Spec.Events
	pk := spec[typ].Key.PK
	if index != "" {
		pk = spec[typ].Indexes[index].PK
	}
	if shows(pk, spec[typ].ID) {
		return true
	}
	for name, part := range spec {
		if whole, claim := p.ClaimOf(name); claim && whole == typ && shows(pk, part.Key.PK+"#"+part.Key.SK) {
			return true
		}
	}
	return false
}

// shows reports whether a key shows each variable of a template as the template does, or in full.
func shows(key, template string) bool {
	in, err := keys.ParseTemplate(key)
	of, failed := keys.ParseTemplate(template)
	if err != nil || failed != nil {
		return false
	}
	for _, part := range of.Parts() {
		shown := slices.ContainsFunc(in.Parts(), func(k keys.Part) bool {
			return !k.Lossy && (k.Derived == "@id" || k.Variable() == part.Variable()) || k.Canonical() == part.Canonical()
		})
		if part.IsVariable() && part.Derived != "@type" && !shown {
			return false
		}
	}
	return true
}

// hot finds partition keys that all writes of one moment share.
func (r *Report) hot(in Input, p *pipeline.Pipeline, at rules.Places) {
	spec := p.Describe().Spec
	for _, name := range slices.Sorted(maps.Keys(spec.Events)) {
		e := spec.Events[name]
		r.judge(in, at, name, "key", e.Key.PK)
		for _, index := range slices.Sorted(maps.Keys(e.Indexes)) {
			r.judge(in, at, name, index, e.Indexes[index].PK)
		}
	}
	if r.Events != nil && r.Events.Items.Count > 0 {
		for _, h := range r.Events.Keys {
			r.skewed(in, spec, at, h)
		}
	}
}

func (r *Report) judge(in Input, at rules.Places, name, where, pk string) {
	shards, hot := momentary(pk)
	if !hot {
		return
	}
	h := Hot{Key: name + " " + where, Shards: shards, Ceiling: shards * estimate.UnitsASecond}
	if in.Rate > float64(h.Ceiling) {
		h.EnoughShards = int(math.Ceil(in.Rate / estimate.UnitsASecond))
		member := "key.pk"
		if where != "key" {
			member = "indexes." + where + ".pk"
		}
		at.Warn("hot-partition", at.Of("events."+name, member),
			fmt.Sprintf("all events of one moment share %d partition keys of %s, which take %d write units a second of 1 KB each, and %v "+
				"events may come", shards, h.Key, h.Ceiling, in.Rate),
			strconv.Quote(sharded(pk, h.EnoughShards)))
	}
	r.Hot = append(r.Hot, h)
}

// sharded says how to divide a partition key into so many shards. A key that is divided already
// gets no second number.
func sharded(pk string, n int) string {
	if i := strings.Index(pk, "shard:"); i >= 0 && strings.Count(pk, "shard:") == 1 {
		rest := pk[i+len("shard:"):]
		return fmt.Sprintf("%sshard:%d%s", pk[:i], n, strings.TrimLeft(rest, "0123456789"))
	}
	return fmt.Sprintf("%s#{@id | shard:%d}", pk, n)
}

// momentary reports whether a partition key is made of constants, periods and types alone, and into
// how many shards it is divided.
func momentary(pk string) (shards int, hot bool) {
	t, err := keys.ParseTemplate(pk)
	if err != nil {
		return 0, false
	}
	shards = 1
	for _, part := range t.Parts() {
		if !part.IsVariable() || part.Derived == "@type" {
			continue
		}
		period := false
		for _, f := range part.Funcs {
			switch of := f.Function(); {
			case of.Time != "" && of.Lossy:
				period = true
			case of.Spreads:
				n := 0
				if _, err := fmt.Sscan(f.Arg, &n); err == nil {
					shards, period = shards*n, true
				}
			}
		}
		if !period {
			return 0, false
		}
	}
	return shards, true
}

// writePatterns prints the patterns for people.
func (r *Report) writePatterns(b *strings.Builder, region string) {
	rated := slices.ContainsFunc(r.Patterns, func(p Pattern) bool { return p.Rate > 0 })
	fmt.Fprintf(b, "patterns (a page of %d items of 1 KB, of one if the key is unique, or of one total", pageItems)
	if rated && region != "" {
		fmt.Fprintf(b, "; dollars are those of %s", region)
	}
	b.WriteString(")\n")
	t := show.NewTable()
	row := func(name, requests, units, rate, dollars, request string) {
		if rated {
			t.Row(name, requests, units, rate, dollars, request)
		} else {
			t.Row(name, requests, units, request)
		}
	}
	row("name", "requests", "units", "rate", "$/month", "request")
	for _, p := range r.Patterns {
		rate, dollars := "", ""
		if p.Rate > 0 {
			rate = fmt.Sprint(p.Rate)
		}
		if p.DollarsAMonth != nil {
			dollars = fmt.Sprintf("%.2f", *p.DollarsAMonth)
		}
		row(p.Name, fmt.Sprint(p.Requests), fmt.Sprint(p.Units), rate, dollars, p.Request)
	}
	t.Print(b)
	for _, h := range r.Hot {
		fmt.Fprintf(b, "  %s: all events of one moment share %s, which take %d write units a second\n", h.Key,
			show.Count(h.Shards, "partition key"), h.Ceiling)
	}
	b.WriteString("\n")
}
