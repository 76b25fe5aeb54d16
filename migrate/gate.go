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
// may. quiet is how long nothing may have changed the old table before a turn; 0: that is not
// asked.
func (s *Migration) Missing(ctx context.Context, quiet time.Duration) ([]string, *Control, error) {
	c, err := s.Control(ctx)
	if err != nil {
		return nil, nil, err
	}
	direction, err := s.allows(c)
	if err != nil {
		return []string{err.Error()}, c, nil
	}
	streams := s.Streams(c)
	var list []string
	switch now := s.store.Env.Now(); {
	case c.Pass == 0:
		list = append(list, "no pass has begun: run `ingot migrate backfill`")
	case c.Filled < c.Pass:
		list = append(list, fmt.Sprintf("pass %d has not ended: run `ingot migrate backfill` again", c.Pass))
	case s.old.Stream == "":
		list = append(list, fmt.Sprintf("table %s has no stream, so nobody knows what is written there: switch one on, with new and old "+
			"images, let capture read it, and then run `ingot migrate backfill` and `ingot migrate compare`", s.old.Table))
	case direction == Backward && s.old.Events == "":
		list = append(list, fmt.Sprintf("table %s has no stream, so nobody knows what is stored there: switch it on, as Ingot's template "+
			"has it, let capture read it, and then run `ingot migrate compare`", s.store.Events))
	case c.Captured.IsZero():
		list = append(list, "capture is not proven to have read the stream: run `ingot migrate capture`, or deploy its function, and ask "+
			"with `ingot migrate compare`, which waits for the proof")
	case streams != c.Stream:
		list = append(list, "the stream is another one than capture has read: run `ingot migrate capture`, and then "+
			"`ingot migrate backfill` and `ingot migrate compare`, because what was written in between is in neither")
	case c.Compared.IsZero() && c.Found == "":
		list = append(list, "the tables were never compared: run `ingot migrate compare`")
	case c.Compared.IsZero():
		list = append(list, "the last comparison no longer counts, because after it a pass has begun, the sides were exchanged, or capture has "+
			"met another stream, or more rows than it can note that stand against a turn: run `ingot migrate compare`")
	case now.Sub(c.Compared) > evidenceLasts:
		list = append(list, fmt.Sprintf("the last comparison is %s old, and it counts for %s: run `ingot migrate compare`",
			now.Sub(c.Compared).Round(time.Hour), evidenceLasts))
	case c.Captured.Before(c.Compared):
		list = append(list, "capture has not been proven to go on since the last comparison: run `ingot migrate capture`, or deploy "+
			"its function")
	case c.Found != clean:
		list = append(list, "the last comparison found "+c.Found+": mend them, and run `ingot migrate compare` again")
	case direction == Forward && quiet > 0 && c.Changed.IsZero() && c.Captured.Sub(c.StreamAt) < quiet+changedStep:
		list = append(list, fmt.Sprintf("capture has read the stream since %s, and has done what was written before %s: wait until there "+
			"are %s between the two, because nobody knows when the old table was written before", show(c.StreamAt), show(c.Captured),
			quiet+changedStep))
	case direction == Forward && quiet > 0 && !c.Changed.IsZero() && c.Captured.Sub(c.Changed) < quiet+changedStep:
		list = append(list, fmt.Sprintf("the old table was written at %s, and capture has done what was written before %s: stop its producers, "+
			"and wait until there are %s between the two: --quiet, and the %s to which the time of a change is known", show(c.Changed),
			show(c.Captured), quiet+changedStep, changedStep))
	default:
		untidy, err := s.untidy(ctx, c)
		if err != nil {
			return nil, c, err
		}
		if len(untidy) > 0 {
			list = append(list, fmt.Sprintf("since the last comparison, capture has met rows that are refused, claim the key of another one, or "+
				"are not copied: mend %s", someOf(untidy)))
		}
	}
	return list, c, nil
}

// clean is what a comparison has found if nothing stands against a turn.
const clean = "clean"

// refuseTurn returns an error that says what is missing.
func (s *Migration) refuseTurn(ctx context.Context, quiet time.Duration) (*Control, error) {
	missing, c, err := s.Missing(ctx, quiet)
	if err == nil && len(missing) > 0 {
		err = stopped("the types may not turn yet: %s", strings.Join(missing, "; "))
	}
	return c, err
}
