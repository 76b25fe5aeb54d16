package main

import "github.com/ingot-events/ingot/internal/prove/sim"

// verifying returns wrong ways to verify.
func verifying() []Mutant {
	misjudged, wrong := []sim.Check{sim.Misjudged}, []sim.Check{sim.Wrong}
	return []Mutant{
		{
			Name: "looks-only-once", What: "what differs at the first look is called damaged", Defends: "C5", Checks: misjudged,
			Edits: []Edit{{"verify.Twice", `second, err := Run(ctx, c)`, `second, err := first, error(nil)`}},
		},
		{
			Name: "values-compared-twice", What: "a difference is the same if the totals are off by the same number of events", Defends: "C5", Checks: misjudged,
			Edits: []Edit{{"verify.merged.compareOne", `print := by.String()`, `print := fmt.Sprint(stored.n - wanted.n)`}},
		},
		{
			Name: "lag-not-asked", What: "the second look begins without asking how far the stream is", Defends: "C5", Checks: misjudged,
			Edits: []Edit{{"verify.Twice", `unsure, err := delivered(ctx, c, lag, c.Env.Now(), patience)`, `unsure, err := "", error(nil)`}},
		},
		{
			Name: "unreadable-lag-is-short", What: "a lag that cannot be read is taken for none", Defends: "C5", Checks: misjudged,
			Edits: []Edit{{"verify.delivered", `return fmt.Sprintf("nobody can tell how far the streams function is: %v", err), nil`, `return "", nil`}},
		},
		{
			Name: "read-again-after-resume", What: "a pass that goes on reads its segment from the beginning and keeps the runs that it has", Defends: "C5", Checks: wrong,
			Edits: []Edit{{"verify.pass.segment", `return s, s.belongs(p)`, `s.Items.PK, s.Items.SK = "", ""
			return s, s.belongs(p)`}},
		},
		{
			Name: "spilled-run-lost", What: "of the runs of a hash bucket only the last one counts", Defends: "C5", Checks: wrong,
			Edits: []Edit{{"verify.reading.spill", `s.Runs = append(s.Runs, file)`, `s.Runs = append(slices.DeleteFunc(s.Runs, func(r runFile) bool { return r.Bucket == bucket }), file)`}},
		},
		{
			Name: "checkpoint-before-spill", What: "a checkpoint covers what is only in memory", Defends: "C5", Checks: wrong,
			Edits: []Edit{{"verify.reading.checkpoint", ``, `	if s.Ended.IsZero() {
		s.last = s.Env.Now()
		return keep(ctx, s.Work, segmentPaper(s.Segment, s.Of), "segment", &s.manifest)
	}
`}},
		},
	}
}
