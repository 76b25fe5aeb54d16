package sums_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/tables"
	"github.com/ingot-events/ingot/verify/sums"
)

// cups compares how many cups were paid for at each place with how many were ordered there. A
// segment has seen a number of pages, and a comparison finds lines of text.
type cups map[sums.Side][]string

func (c cups) Read(ctx context.Context, s *sums.Reading[int], side sums.Side) error {
	pages := func(context.Context, tables.Segment) iter.Seq2[tables.Page[string], error] {
		return func(yield func(tables.Page[string], error) bool) {
			yield(tables.Page[string]{All: c[side], Units: 1}, nil)
		}
	}
	return sums.Pages(ctx, s, side, pages, func(page *tables.Page[string]) (units float64, err error) {
		for _, place := range page.All {
			s.Side(side, nil, func(key []byte) []byte { return append(key, place...) }, func(sum *sums.Sum) { sum.N++ })
		}
		*s.Seen++
		return page.Units, nil
	})
}

func (cups) Ops(string) ([]aggregate.Op, error) { return nil, nil }

func (cups) Compare(found *[]string, p *sums.Pair) error {
	var n [2]int64
	for side, sum := range p.Sides {
		if sum != nil {
			n[side] = sum.N
		}
	}
	if n[sums.Wanted] != n[sums.Stored] {
		*found = append(*found, fmt.Sprintf("%s: %d ordered, %d paid for", p.Key, n[sums.Wanted], n[sums.Stored]))
	}
	return nil
}

func Example() {
	job := cups{sums.Wanted: {"window", "door", "window"}, sums.Stored: {"window", "door"}}
	r, err := sums.New(sums.Config{}, sums.ID{}, job).Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(*r.Seen[0], "pages")
	for _, line := range *r.Found[0] {
		fmt.Println(line)
	}
	// Output:
	// 2 pages
	// window: 2 ordered, 1 paid for
}
