package verify

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline"
	"github.com/ingot-events/ingot/tables"
)

// appendKey appends the key of a total: its generation, its window, and its by values with #
// between them. No escaped value holds a #. All buckets of a total have the same key.
func appendKey(dst []byte, name string, since, window int64, by []string) []byte {
	dst = append(append(dst, name...), '#')
	dst = append(strconv.AppendInt(dst, since, 10), '#')
	dst = strconv.AppendInt(dst, window, 10)
	for _, value := range by {
		dst = append(append(dst, '#'), value...)
	}
	return dst
}

// total has the parts of a key that [appendKey] wrote.
type total struct {
	def    *aggregate.Definition
	window int64
	by     string
}

func parseKey(p *pipeline.Pipeline, key string) (total, error) {
	parts := strings.SplitN(key, "#", 4)
	if len(parts) < 3 {
		return total{}, fmt.Errorf("%q is not the key of a total", key)
	}
	def, ok := p.Definition(parts[0])
	since, err := strconv.ParseInt(parts[1], 10, 64)
	if !ok || err != nil || def.Since != since {
		return total{}, fmt.Errorf("%q is not a total of this pipeline", key)
	}
	window, err := strconv.ParseInt(parts[2], 10, 64)
	if err != nil {
		return total{}, fmt.Errorf("%q is not the key of a total", key)
	}
	t := total{def: def, window: window}
	if len(parts) == 4 {
		t.by = parts[3]
	}
	return t, nil
}

// String names the total for people.
func (t total) String() string {
	text := t.def.String()
	if t.by != "" {
		text += " by " + t.by
	}
	if t.window != aggregate.NoWindow {
		text += " at " + lanes.WindowText(t.window)
	}
	return text
}

// values returns the values of the total's by.
func (t total) values() map[string]string {
	if len(t.def.By) == 0 {
		return nil
	}
	return lanes.Group(t.def, strings.Split(t.by, "#"))
}

// start returns the start of the total's window.
func (t total) start() time.Time {
	if t.window == aggregate.NoWindow {
		return time.Time{}
	}
	return time.Unix(t.window, 0).UTC()
}

// side says what a sum adds up.
type side uint8

const (
	wanted side = iota // what the items add to the total
	stored             // what the buckets of the total hold
)

// sum is a part of one side of one total: what some of its items or of its buckets add up to. The
// parts of a side add up to the whole, in any order and any grouping.
type sum struct {
	n       int64
	fp, fpx event.Decimal
	values  []aggregate.Amount // in the order of the definition's values, then the score if totals are ranked: see columns
	flags   []string           // of its buckets
	flagged bool               // one of its buckets says that the values are not proven
}

func newSum(def *aggregate.Definition) *sum {
	return &sum{values: make([]aggregate.Amount, columns(def))}
}

// columns returns how many values a sum of the definition's totals has. If they are ranked, the
// last one is the copy that the index is ordered by.
func columns(def *aggregate.Definition) int {
	if def.Rank.Value == "" {
		return len(def.Values)
	}
	return len(def.Values) + 1
}

// ranked returns which value the totals are ranked by. It is -1 if they are not ranked.
func ranked(def *aggregate.Definition) int {
	return slices.IndexFunc(def.Values, func(v aggregate.Value) bool { return v.Name == def.Rank.Value })
}

// opOf returns how one of the columns is computed.
func opOf(def *aggregate.Definition, column int) aggregate.Op {
	if column == len(def.Values) {
		column = ranked(def)
	}
	return def.Values[column].Op
}

func (s *sum) contribution(c *aggregate.Contribution) {
	s.n++
	s.fp = s.fp.Add(event.DecimalOf(c.Term))
	for i, v := range c.Values {
		s.fold(c.Def, i, v)
	}
}

func (s *sum) bucket(def *aggregate.Definition, t *tables.StoredTotal) {
	s.n += t.N
	s.fp, s.fpx = s.fp.Add(t.FP), s.fpx.Add(t.FPX)
	s.flags = append(s.flags, t.Flags()...)
	s.flagged = s.flagged || t.Flag != "" || t.Accepted != ""
	for i, v := range def.Values {
		if v.Op.Textual() {
			s.fold(def, i, aggregate.Amount{Set: t.Texts[v.Name] != "", Text: t.Texts[v.Name]})
		} else if n, ok := t.Values[v.Name]; ok {
			s.fold(def, i, aggregate.Amount{Set: true, Number: n})
		}
	}
	if def.Rank.Value != "" && t.Score != nil &&
		t.Rank == lanes.RankOf(def, lanes.Key(def, t.Address.Bucket, t.Address.By, t.Address.Window)) {
		s.fold(def, len(def.Values), aggregate.Amount{Set: true, Number: *t.Score})
	}
}

// add adds another part of the same side of the same total.
func (s *sum) add(def *aggregate.Definition, other *sum) {
	s.n += other.n
	s.fp, s.fpx = s.fp.Add(other.fp), s.fpx.Add(other.fpx)
	s.flags, s.flagged = append(s.flags, other.flags...), s.flagged || other.flagged
	for i, v := range other.values {
		s.fold(def, i, v)
	}
}

func (s *sum) fold(def *aggregate.Definition, i int, a aggregate.Amount) {
	s.values[i] = lanes.Merge(opOf(def, i), s.values[i], a)
}

// value returns a value as text. It is 0, or an empty text, if nothing was added to it.
func (s *sum) value(op aggregate.Op, i int) string {
	if op.Textual() {
		return s.values[i].Text
	}
	return s.values[i].Number.String()
}
