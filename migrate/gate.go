package migrate

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// evidenceLasts is how long a comparison counts as evidence.
const evidenceLasts = 24 * time.Hour

// Missing lists what is missing before types may turn, in words for people. It is empty if they
// may.
func (s *Sync) Missing(ctx context.Context) ([]string, *Control, error) {
	c, err := s.Control(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := s.allows(c); err != nil {
		return []string{err.Error()}, c, nil
	}
	var list []string
	switch now := s.store.Env.Now(); {
	case c.Pass == 0:
		list = append(list, "no pass has begun: run `ingot migrate backfill`")
	case c.Filled < c.Pass:
		list = append(list, fmt.Sprintf("pass %d has not ended: run `ingot migrate backfill` again", c.Pass))
	case c.Captured.IsZero():
		list = append(list, "capture has never read the stream to its end: run `ingot migrate capture`")
	case s.old.Stream != "" && s.old.Stream != c.Stream:
		list = append(list, "the stream of the old table is another one than capture has read: run `ingot migrate capture`, and then "+
			"`ingot migrate backfill` and `ingot migrate compare`, because what was written in between is in neither")
	case c.Compared.IsZero():
		list = append(list, "the tables were never compared: run `ingot migrate compare`")
	case now.Sub(c.Compared) > evidenceLasts:
		list = append(list, fmt.Sprintf("the last comparison is %s old, and it counts for %s: run `ingot migrate compare`",
			now.Sub(c.Compared).Round(time.Hour), evidenceLasts))
	case c.Captured.Before(c.Compared):
		list = append(list, "capture has not been proven to go on since the last comparison: run `ingot migrate capture`, or wait until "+
			"its function has")
	case c.Found != clean:
		list = append(list, "the last comparison found "+c.Found+": mend them, and run `ingot migrate compare` again")
	}
	return list, c, nil
}

// clean is what a comparison has found if nothing stands against a turn.
const clean = "clean"

// refuseTurn returns an error that says what is missing.
func (s *Sync) refuseTurn(ctx context.Context) error {
	missing, _, err := s.Missing(ctx)
	if err == nil && len(missing) > 0 {
		err = &StopError{"the types may not turn yet: " + strings.Join(missing, "; ")}
	}
	return err
}
