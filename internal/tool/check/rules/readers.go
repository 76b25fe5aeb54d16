package rules

import "fmt"

// readers counts what reads the events table's stream. A shard has room for two readers at a time
// (DynamoDB developer guide, "Change data capture for DynamoDB Streams").
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
	n, more := len(own), ""
	if c.Published {
		n++
		more = ", with the publish function of publish.yaml,"
	}
	if n > 2 {
		c.Mistake("stream-readers", own[len(own)-1].Position, fmt.Sprintf("%d mappings%s read the events table's stream, and a shard "+
			"has room for two readers: more are throttled, and totals fall behind", n, more), "")
	}
}
