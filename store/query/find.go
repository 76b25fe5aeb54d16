package query

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/internal/base/awserr"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// Find reads what is stored under a key, consistently. there reports whether anything is stored.
// The item is nil if the key is barred, or if it holds an item that is not Ingot's event.
func (r *Reader) Find(ctx context.Context, key event.Key) (item *event.Item, there, barred bool, err error) {
	img, err := r.heads.ReadOne(ctx, r.heads.Events, key)
	if err != nil {
		return nil, false, false, fmt.Errorf("read of an item in table %s: %w", r.heads.Events, awserr.Quiet(err))
	}
	if len(img) == 0 {
		return nil, false, false, nil
	}
	if rows.ReadWhole(img).Barred {
		return nil, true, true, nil
	}
	if item, err = rows.Decode(img); err != nil {
		item = nil
	}
	return item, true, false, nil
}

// SameSecret makes sure that the pipeline's secret of hmac is the one that the tables were filled
// with. The error is [tables.ErrOtherSecret] if it is another one.
func (r *Reader) SameSecret(ctx context.Context) error { return r.heads.SameSecret(ctx) }
