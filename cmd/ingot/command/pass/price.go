package pass

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/cost"
	"github.com/ingot-events/ingot/internal/tool/show"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/migrate"
)

// Price is what a pass is going to read and to write.
type Price struct {
	Items   int      `json:"items"`           // of the events table
	Others  int      `json:"aggregatesItems"` // of the aggregates table, which holds more than totals
	Reads   float64  `json:"readUnits"`
	Writes  float64  `json:"writeUnits"`
	Dollars *float64 `json:"dollars,omitempty"` // nil: not known
	Region  string   `json:"region"`            // of the prices
	Note    string   `json:"-"`                 // how exact the figures are
	rows    string   // the table that is read instead of these two; empty: there is none
}

// unitBytes is what a consistent read reads with one read unit.
const unitBytes = 4096

// sized returns the service's description of a table. The service counts the items a few times a
// day.
func sized(ctx context.Context, t *target.Target, table string) (*types.TableDescription, error) {
	out, err := t.DynamoDB().DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &table})
	if gone := (*types.ResourceNotFoundException)(nil); errors.As(err, &gone) {
		return nil, fmt.Errorf("there is no table %s: it was deleted, or it is in another account or Region; if it was deleted, go on as "+
			"%s says", table, excerpt.Page("repair.md#a-bad-day"))
	}
	if err != nil {
		return nil, err
	}
	return out.Table, nil
}

// PriceOf computes what reading both tables costs, by their size as the service last counted it.
func PriceOf(ctx context.Context, t *target.Target, looks int) (Price, error) {
	p := Price{}
	for table, items := range map[string]*int{t.EventsTable: &p.Items, t.AggregatesTable: &p.Others} {
		is, err := sized(ctx, t, table)
		if err != nil {
			return p, err
		}
		*items = int(aws.ToInt64(is.ItemCount))
		p.Reads += float64(looks) * float64(aws.ToInt64(is.TableSizeBytes)) / unitBytes
	}
	return p, nil
}

// PriceOfRebuild computes what a rebuild costs if every item is touched. The touch pass reads the
// items, and verify reads both tables. A touch writes the item and its entry in each index.
func PriceOfRebuild(ctx context.Context, t *target.Target) (Price, error) {
	p, err := PriceOf(ctx, t, 1)
	if err != nil {
		return p, err
	}
	is, err := sized(ctx, t, t.EventsTable)
	if err != nil || p.Items == 0 {
		return p, err
	}
	p.Reads += float64(aws.ToInt64(is.TableSizeBytes)) / unitBytes
	units := func(items, bytes *int64) float64 { // as if all had the same size
		n := float64(aws.ToInt64(items))
		return n * math.Ceil(float64(aws.ToInt64(bytes))/max(n, 1)/1024)
	}
	p.Writes = units(is.ItemCount, is.TableSizeBytes)
	for _, index := range is.GlobalSecondaryIndexes {
		p.Writes += units(index.ItemCount, index.IndexSizeBytes)
	}
	p.Note = "if every item is touched and they are all about as large; what the streams function then counts is not in it"
	return p, nil
}

// PriceOfRows computes what reading the rows of an old table costs.
func PriceOfRows(old *migrate.Table) Price {
	return Price{rows: old.Table, Items: int(old.Items), Reads: float64(old.Bytes) / unitBytes}
}

// PriceOfComparison computes what reading the rows of an old table and their copies costs.
func PriceOfComparison(old *migrate.Table) Price {
	p := PriceOfRows(old)
	p.Reads, p.Note = 2*p.Reads, "as if each row had a copy that is as large"
	return p
}

// by computes the dollars with prices.
func (p *Price) by(prices *cost.Prices) {
	p.Dollars, p.Region = prices.Units(p.Reads, p.Writes), prices.Region()
}

func (p Price) String() string {
	text := fmt.Sprintf("about %s of the events table and %s of the aggregates table", show.Count(p.Items, "item"),
		show.Comma(p.Others))
	if p.rows != "" {
		text = fmt.Sprintf("about %s of table %s", show.Count(p.Items, "row"), p.rows)
	}
	text += ": " + show.Count(int(p.Reads+0.999), "read unit")
	if p.Writes > 0 {
		text += " and " + show.Count(int(p.Writes+0.999), "write unit")
	}
	if p.Dollars != nil {
		text += fmt.Sprintf(", %.4f dollars at the prices of %s", *p.Dollars, p.Region)
	}
	if p.Note != "" {
		text += " (" + p.Note + ")"
	}
	return text
}

// Say says what it costs to read a whole table consistently, once.
func Say(ctx context.Context, w io.Writer, t *target.Target, table string) error {
	is, err := sized(ctx, t, table)
	if err != nil {
		return fmt.Errorf("asking for the size of table %s: %w", table, err)
	}
	units := int(math.Ceil(float64(aws.ToInt64(is.TableSizeBytes)) / unitBytes))
	fmt.Fprintf(w, "ingot: scanning table %s costs about %s (the size is up to six hours old)\n", table,
		show.Count(max(units, 1), "read unit"))
	return nil
}
