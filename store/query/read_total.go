package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline/pattern"
	"github.com/ingot-events/ingot/pipeline/question"
)

// readTotals answers a pattern that reads totals. All of them are on one page.
func (s *Reader) readTotals(ctx context.Context, declared *pattern.Pattern, ask Ask) (Answer, error) {
	if declared.Top() > 0 {
		within, at, n, err := s.topOf(declared, ask)
		if err != nil {
			return Answer{}, fmt.Errorf("read: %w", err)
		}
		totals, err := s.Top(ctx, declared.Total(), within, at, n)
		return Answer{Totals: totals}, err
	}
	groups, from, to, err := s.totalsOf(declared, ask)
	if err != nil {
		return Answer{}, fmt.Errorf("read: %w", err)
	}
	var page Answer
	for _, by := range groups {
		totals, err := s.Total(ctx, declared.Total(), by, from, to)
		if err != nil {
			return Answer{}, fmt.Errorf("read %s: %w", declared.Name(), err)
		}
		page.Totals = append(page.Totals, totals...)
	}
	return page, nil
}

// topOf returns the list that is asked for, its window by an instant in it, and how many totals. A
// limit can only lower what the pattern declares.
func (s *Reader) topOf(declared *pattern.Pattern, ask Ask) (within map[string]string, at time.Time, n int, err error) {
	if err := s.onePage(declared, ask, "the greatest first"); err != nil {
		return nil, at, 0, err
	}
	if n = declared.Top(); ask.Limit > 0 {
		n = min(n, ask.Limit)
	}
	within, at, err = question.Top(declared, question.Question{Values: ask.Values, From: ask.From, To: ask.To}, s.heads.Env.Now())
	return within, at, n, err
}

// totalsOf returns the groups whose totals are asked for, and the range of windows.
func (s *Reader) totalsOf(declared *pattern.Pattern, ask Ask) (groups []map[string]string, from, to time.Time, err error) {
	if err := s.onePage(declared, ask, "the oldest window first"); err != nil {
		return nil, from, to, err
	}
	return question.Groups(declared, question.Question{Values: ask.Values, From: ask.From, To: ask.To})
}

// onePage refuses what cannot be used with totals.
func (s *Reader) onePage(declared *pattern.Pattern, ask Ask, order string) error {
	def, _ := s.heads.Pipeline.Definition(declared.Total())
	switch {
	case def.Window == 0 && (ask.From != "" || ask.To != ""):
		return fmt.Errorf("from and to choose windows, and %s has none: its totals are of all time; leave from and to out", def.Name)
	case s.heads.Aggregates == "":
		return errors.New("Config.Aggregates is not set: name the aggregates table")
	case ask.Page != "" || ask.Prefix != "" || ask.Newest != nil:
		return fmt.Errorf("%s reads totals, which come on one page, %s; leave page, prefix and newest out", declared.Name(), order)
	}
	return nil
}

// explainTotals returns the requests for totals. Before them, one GetItem reads the generation's
// head.
func (s *Reader) explainTotals(declared *pattern.Pattern, ask Ask) ([]any, *question.QueryPlan, error) {
	if declared.Top() > 0 {
		within, at, n, err := s.topOf(declared, ask)
		if err != nil {
			return nil, nil, fmt.Errorf("read: %w", err)
		}
		def, _ := s.heads.Pipeline.Definition(declared.Total())
		values, err := escapedBy(def, def.Rank.Within, within)
		if err != nil {
			return nil, nil, fmt.Errorf("read: %w", err)
		}
		var list []any
		window := lanes.WindowText(lanes.WindowStart(def, at))
		for shard := range def.Rank.Shards {
			list = append(list, s.rankQuery(lanes.RankPartition(def, window, shard, values), min(n, pageOfRanks)))
		}
		return list, nil, nil
	}
	groups, from, to, err := s.totalsOf(declared, ask)
	if err != nil {
		return nil, nil, fmt.Errorf("read: %w", err)
	}
	if to.IsZero() {
		to = afterLast
	}
	def, _ := s.heads.Pipeline.Definition(declared.Total())
	var list []any
	for _, by := range groups {
		values, err := escapedBy(def, def.By, by)
		if err != nil {
			return nil, nil, fmt.Errorf("read: %w", err)
		}
		for bucket := range def.Spread {
			if in := s.bucketQuery(def, bucket, values, from, to); in != nil {
				list = append(list, in)
			}
		}
	}
	return list, nil, nil
}
