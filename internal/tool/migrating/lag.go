package migrating

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/migrate"
)

// Deployed is the capture function of a stack. It is a [migrate.Lag]: CloudWatch knows the ages of
// what it reads.
type Deployed struct {
	Pauser   pause.Pauser
	Ages     pause.Ages
	Function string   // its name
	Streams  []string // the ARNs of the streams that it must read
}

// Counted returns a time before which the function has copied every change. It is some minutes ago
// even if the function is not behind.
func (d Deployed) Counted(ctx context.Context) (time.Time, error) {
	list, err := pause.Read(ctx, d.Pauser.Client, d.Function)
	if err != nil {
		return time.Time{}, err
	}
	var since time.Time
	for _, stream := range d.Streams {
		i := slices.IndexFunc(list, func(m pause.Mapping) bool { return m.Source == stream })
		if i < 0 {
			return time.Time{}, &migrate.StopError{Why: fmt.Sprintf("function %s does not read the stream %s, which the table has now: deploy "+
				"its stack with that ARN", d.Function, stream)}
		}
		if at := list[i].Modified(); at.After(since) {
			since = at
		}
	}
	at, err := d.Pauser.CountedBy(ctx, d.Ages, d.Function, list)
	if err != nil {
		return time.Time{}, err
	}
	if since.After(at) {
		return time.Time{}, &migrate.StopError{Why: fmt.Sprintf("the mapping of function %s was changed at %s, and CloudWatch does not prove "+
			"anything of that time: ask again in ten minutes", d.Function, since.UTC().Format(time.DateTime))}
	}
	return at, nil
}
