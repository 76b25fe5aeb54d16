package rules

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// These are how many readers a shard of a stream has room for at a time. More than two may be
// throttled. For a table in several Regions, AWS recommends one (DynamoDB developer guide, "Quotas
// in Amazon DynamoDB", simultaneous readers of a shard).
const roomOfShard, roomOfGlobal = 2, 1

// readers counts what reads the events table's stream.
func (c *Checker) readers() {
	stream := c.mappingsOf(c.streams.Name, true)
	if len(stream) == 0 || stream[0].source == nil {
		return // another rule reports it
	}
	var own []*mapping
	for _, m := range c.mappings {
		if m.stream && m.source != nil && m.source.Kind == stream[0].source.Kind && m.source.Name == stream[0].source.Name &&
			m.source.Text == stream[0].source.Text {
			own = append(own, m)
		}
	}
	n, more := len(own)+len(c.Readers), ""
	if len(c.Readers) > 0 {
		more = ", with " + strings.Join(c.Readers, " and ") + ","
	}
	at, rule := own[len(own)-1].Position, "stream-readers"
	switch {
	case n > roomOfShard:
		c.Mistake(rule, at, fmt.Sprintf("%d mappings%s read the events table's stream, and a shard "+
			"has room for two readers: more are throttled, and totals fall behind", n, more), "")
	case n > roomOfGlobal && c.inRegions(stream[0].source) > 1:
		c.Warn(rule, at, fmt.Sprintf("%d mappings%s read the stream of a table in several Regions, and AWS recommends one reader "+
			"of a shard there: more may be throttled, and totals fall behind", n, more), "")
	}
}

// inRegions returns in how many Regions the table of a stream is, as far as the template says.
func (c *Checker) inRegions(stream *template.Node) int {
	if table := c.referred(stream); table != nil {
		return len(c.t.Items(c.t.Property(table, "Replicas")))
	}
	return 1
}
