package table

import (
	"github.com/ingot-events/ingot/internal/table/count"
	"github.com/ingot-events/ingot/internal/table/generations"
	"github.com/ingot-events/ingot/internal/table/put"
	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/tables"
)

// Writers puts events and counts their changes. A function has one.
type Writers struct {
	Heads   *generations.Heads // which generations are counted, and whether this Region may write
	Puts    *put.Stages
	Counter *count.Counter
}

// Open checks the configuration. It sends no request. Under receipts it refuses a pipeline in which
// one change can touch more totals than a transaction holds, which is 100 items with the receipt.
func Open(c tables.Config) (*Writers, error) {
	t, err := rows.Open(c)
	if err != nil {
		return nil, err
	}
	heads := generations.New(t, c)
	return &Writers{heads, put.New(heads, c), count.New(heads, c)}, nil
}
