package lanes

import (
	"context"

	"github.com/ingot-events/ingot/event"
)

// Applied is what became of a batch of changes.
type Applied struct {
	// Unproven is the lowest sequence number that is not proven counted in every aggregate it touches; zero
	// if all are. It and all after it must be delivered again; what was counted already will be dropped by
	// mark or receipt.
	Unproven event.Sequence
	Err      error // the first reason why something is unproven
	Updates  int   // aggregate items written
	Dropped  int   // steps found counted already
	Refused  int   // updates the table will never take; quarantined and flagged
	Large    int   // aggregate items that are large; they say so
}

// Quarantine durably records that an update of an aggregate item is refused for good. It returns nil only
// when that is proven: the update then counts as processed.
type Quarantine func(ctx context.Context, u *Update, cause error) error
