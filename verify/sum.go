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
	"github.com/ingot-events/ingot/verify/sums"
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

// address returns where the total is stored.
func (t total) address() aggregate.Address {
	a := aggregate.Address{Name: t.def.Name, Since: t.def.Since, Window: t.window}
	if t.by != "" {
		a.By = strings.Split(t.by, "#")
	}
	return a
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

// These are the sides of a total.
const (
	wanted = sums.Wanted // what the items add to the total
	stored = sums.Stored // what the buckets of the total hold
)

// ranked returns which value the totals are ranked by. It is -1 if they are not ranked.
func ranked(def *aggregate.Definition) int {
	return slices.IndexFunc(def.Values, func(v aggregate.Value) bool { return v.Name == def.Rank.Value })
}

// opsOf returns how the values of a total are computed. If totals are ranked, the last one is the
// copy that the index is ordered by.
func opsOf(def *aggregate.Definition) []aggregate.Op {
	ops := make([]aggregate.Op, 0, len(def.Values)+1)
	for _, v := range def.Values {
		ops = append(ops, v.Op)
	}
	if i := ranked(def); i >= 0 {
		ops = append(ops, ops[i])
	}
	return ops
}

// addTo adds what one item contributes.
func addTo(s *sums.Sum, ops []aggregate.Op, c *aggregate.Contribution) {
	s.N++
	s.FP = s.FP.Add(event.DecimalOf(c.Term))
	for i, v := range c.Values {
		s.Fold(ops, i, v)
	}
}

// addStored adds one bucket of a total.
func addStored(s *sums.Sum, ops []aggregate.Op, def *aggregate.Definition, t *tables.StoredTotal) {
	s.N += t.N
	s.FP, s.FPX = s.FP.Add(t.FP), s.FPX.Add(t.FPX)
	s.Notes = append(s.Notes, t.Flags()...)
	s.Flagged = s.Flagged || t.Flag != "" || t.Accepted != ""
	for i, v := range def.Values {
		if v.Op.Textual() {
			s.Fold(ops, i, aggregate.Amount{Set: t.Texts[v.Name] != "", Text: t.Texts[v.Name]})
		} else if n, ok := t.Values[v.Name]; ok {
			s.Fold(ops, i, aggregate.Amount{Set: true, Number: n})
		}
	}
	if def.Rank.Value != "" && t.Score != nil &&
		t.Rank == lanes.RankOf(def, lanes.Key(def, t.Address.Bucket, t.Address.By, t.Address.Window)) {
		s.Fold(ops, len(def.Values), aggregate.Amount{Set: true, Number: *t.Score})
	}
}
