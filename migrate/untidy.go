package migrate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/table/rows"
	"github.com/ingot-events/ingot/migrate/rowmap"
)

// While a table of hours is compared, an application may put a row on the key of another one and
// delete it a moment later. So capture only notes the names of rows that it has met and that stand
// against a turn. They are looked at when it matters: before the types turn. A transaction that
// turns them has the condition that capture has met none since then.

// mostMet bounds the bytes of the names on the control item, which capture reads for each batch.
const mostMet = 16 << 10

// noteUntidy notes that capture has met rows that stand against a turn. c is what the control item
// said last. If they are too many, or if the new table is the source, no comparison that began
// before counts any more.
func (s *Migration) noteUntidy(ctx context.Context, c *Control, met []string) error {
	for {
		all := slices.Compact(slices.Sorted(slices.Values(slices.Concat(c.met, met))))
		if s.directionOf(c) == Backward || len(all) == 0 || len(strings.Join(all, "")) > mostMet {
			_, err := s.update(ctx, void+", meets :one", "attribute_exists(PK)", rows.Image{":one": rows.Integer(1)})
			return err
		}
		noted, err := s.update(ctx, "SET met = :met ADD meets :one", sinceMet,
			rows.Image{":met": &types.AttributeValueMemberSS{Value: all}, ":one": rows.Integer(1), ":meets": rows.Integer(c.meets)})
		if err != nil || noted {
			return err
		}
		if c, err = s.Control(ctx); err != nil || c == nil {
			return err
		}
	}
}

// sinceMet is the condition that capture has met no row since the control item was read.
const sinceMet = "attribute_exists(PK) AND (attribute_not_exists(meets) OR meets = :meets)"

// untidy returns those of the rows that capture has met which still stand against a turn: they are
// refused, claim the key of another one, or their copies are not as they say.
func (s *Migration) untidy(ctx context.Context, c *Control) (list []string, err error) {
	for _, name := range c.met {
		found := s.Do(ctx, lookOnly, []Changed{{Key: rowmap.ParseName(name)}})
		switch {
		case found.Err != nil:
			return nil, fmt.Errorf("looking at row %s, which capture has met: %w", name, found.Err)
		case found.Refused+found.Collisions > 0:
			list = append(list, name)
		}
	}
	return list, nil
}

// forget removes the names of rows that no longer stand against a turn, if capture has met none
// meanwhile.
func (s *Migration) forget(ctx context.Context) error {
	c, err := s.Control(ctx)
	if err != nil || c == nil || len(c.met) == 0 {
		return err
	}
	untidy, err := s.untidy(ctx, c)
	tidy := slices.DeleteFunc(slices.Clone(c.met), func(name string) bool { return slices.Contains(untidy, name) })
	if err != nil || len(tidy) == 0 {
		return err
	}
	update, values := "REMOVE met", rows.Image{":meets": rows.Integer(c.meets)}
	if len(untidy) > 0 {
		update, values[":met"] = "SET met = :met", &types.AttributeValueMemberSS{Value: untidy}
	}
	_, err = s.update(ctx, update, sinceMet, values)
	return err
}

// someOf lists the first of many names.
func someOf(names []string) string {
	text := strings.Join(names[:min(len(names), 3)], ", ")
	if more := len(names) - 3; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
