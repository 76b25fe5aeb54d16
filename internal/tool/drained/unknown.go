package drained

import (
	"fmt"
	"strings"
	"time"

	"github.com/ingot-events/ingot/internal/tool/pause"
)

// Unknown says that it is not known whether a function has done everything that was written before
// a moment.
type Unknown struct {
	Function string
	Since    time.Time     // the moment
	Why      string        // what stands in the way of a proof; empty if the function has only not got there
	Shards   []string      // in which it has noted no fence; none if it is not told the shard of a batch
	Of       int           // how many shards there are
	Mapping  pause.Mapping // of the function and the stream, as far as it is known
}

func (a *asking) unknown(why string) *Unknown {
	u := &Unknown{Function: a.Function, Since: a.began, Why: why, Of: len(a.leaves), Mapping: a.mapped}
	if !a.blind {
		u.Shards = a.missing()
	}
	return u
}

// waiting says what a question waits for.
func (u *Unknown) waiting() string {
	return "waiting for the proof that " + u.what() + u.where()
}

func (u *Unknown) what() string {
	return fmt.Sprintf("the function %s has done everything that was written before %s", u.Function, u.Since.UTC().Format(time.TimeOnly))
}

// where says which shards stand still, and what Lambda says of the mapping.
func (u *Unknown) where() string {
	var s strings.Builder
	if n := len(u.Shards); n > 0 {
		some := u.Shards[:min(n, 3)]
		fmt.Fprintf(&s, "; it has proven nothing since then in %d of %d shards (%s", n, u.Of, strings.Join(some, ", "))
		if n > len(some) {
			s.WriteString(" and others")
		}
		s.WriteString(")")
	}
	if u.Mapping.State != "" {
		fmt.Fprintf(&s, "; its event source mapping is %s", u.Mapping.State)
	}
	if u.Mapping.Last != "" {
		fmt.Fprintf(&s, ", and Lambda says of the last batch: %s", u.Mapping.Last)
	}
	return s.String()
}

// Error says what is not known, and why.
func (u *Unknown) Error() string {
	switch {
	case u.Why != "":
		return fmt.Sprintf("it cannot be proven that %s: %s", u.what(), u.Why)
	case u.Mapping.Off():
		return fmt.Sprintf("it cannot be proven that %s, because nothing calls it%s: switch its event source mapping on", u.what(), u.where())
	}
	text := "it is not proven that " + u.what() + u.where()
	if n := len(u.Shards); n > 0 && n == u.Of {
		text += "; if it is older than this tool, deploy it, because it then proves nothing"
	}
	return text
}
