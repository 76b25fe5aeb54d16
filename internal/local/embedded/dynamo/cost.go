package dynamo

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// cost is what a request costs, in capacity units.
type cost struct {
	table   float64
	indexes []indexCost
}

type indexCost struct {
	name  string
	units float64
}

func (c cost) indexUnits() float64 {
	sum := 0.0
	for _, ix := range c.indexes {
		sum += ix.units
	}
	return sum
}

func (c cost) total() float64 { return c.table + c.indexUnits() }

func (c cost) times(factor float64) cost {
	out := cost{table: c.table * factor}
	for _, ix := range c.indexes {
		out.indexes = append(out.indexes, indexCost{ix.name, ix.units * factor})
	}
	return out
}

func (c cost) plus(d cost) cost {
	out := cost{table: c.table + d.table, indexes: slices.Clone(c.indexes)}
	for _, ix := range d.indexes {
		i := slices.IndexFunc(out.indexes, func(known indexCost) bool { return known.name == ix.name })
		if i < 0 {
			out.indexes = append(out.indexes, ix)
			continue
		}
		out.indexes[i].units += ix.units
	}
	return out
}

// attempt returns what a write costs on the table, whether it is done or not. The larger of the two
// images decides.
func attempt(old, new *value.Item) cost {
	return cost{table: value.WriteUnits(max(value.SizeOf(old), value.SizeOf(new)))}
}

// price returns what it costs to replace old with new. An index is charged when its entry changes.
// An entry that appears or goes costs its own size. An entry that changes in place costs the larger
// of its two sizes. An entry whose key moves costs both.
func (t *table) price(old, new *value.Item) cost {
	c := attempt(old, new)
	for _, ix := range t.indexes {
		was, wasIn := ix.place(old)
		is, isIn := ix.place(new)
		if !wasIn && !isIn {
			continue
		}
		old, new := ix.project(old), ix.project(new)
		units := 0.0
		switch {
		case wasIn && isIn && was == is:
			if !old.Equal(new) {
				units = value.WriteUnits(max(old.Size, new.Size))
			}
		case wasIn && isIn:
			units = value.WriteUnits(old.Size) + value.WriteUnits(new.Size)
		case isIn:
			units = value.WriteUnits(new.Size)
		case wasIn:
			units = value.WriteUnits(old.Size)
		}
		if units > 0 {
			c.indexes = append(c.indexes, indexCost{ix.name, units})
		}
	}
	return c
}

// capacity builds the ConsumedCapacity of the answer. It returns nil if the request did not ask for
// it.
func capacity(asked types.ReturnConsumedCapacity, table string, c cost) *types.ConsumedCapacity {
	if asked != types.ReturnConsumedCapacityTotal && asked != types.ReturnConsumedCapacityIndexes {
		return nil
	}
	out := &types.ConsumedCapacity{TableName: aws.String(table), CapacityUnits: aws.Float64(c.total())}
	if asked == types.ReturnConsumedCapacityIndexes {
		out.Table = &types.Capacity{CapacityUnits: aws.Float64(c.table)}
		for _, ix := range c.indexes {
			if out.GlobalSecondaryIndexes == nil {
				out.GlobalSecondaryIndexes = map[string]types.Capacity{}
			}
			out.GlobalSecondaryIndexes[ix.name] = types.Capacity{CapacityUnits: aws.Float64(ix.units)}
		}
	}
	return out
}

// bill adds up the cost of a request that touches several tables.
type bill struct{ costs map[string]cost }

func (b *bill) add(table string, c cost) {
	if b.costs == nil {
		b.costs = map[string]cost{}
	}
	b.costs[table] = b.costs[table].plus(c)
}

func (b *bill) capacities(asked types.ReturnConsumedCapacity) []types.ConsumedCapacity {
	var out []types.ConsumedCapacity
	for table, c := range b.costs {
		if one := capacity(asked, table, c); one != nil {
			out = append(out, *one)
		}
	}
	slices.SortFunc(out, func(a, b types.ConsumedCapacity) int { return strings.Compare(*a.TableName, *b.TableName) })
	return out
}

func (ts *Service) wrote(table string, c cost) { ts.core.Meter.Wrote(table, c.table, c.indexUnits()) }

// refuse counts a write that was not carried out. Nothing is charged for its indexes.
func (ts *Service) refuse(table string, c cost) { ts.core.Meter.Refused(table, c.table) }

func (ts *Service) read(table string, c cost) { ts.core.Meter.Read(table, c.table, c.indexUnits()) }
