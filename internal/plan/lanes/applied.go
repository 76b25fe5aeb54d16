package lanes

import (
	"context"

	"github.com/ingot-events/ingot/event"
)

// Applied is the outcome of a batch of changes.
type Applied struct {
	// Unproven is the lowest sequence number that is not proven counted in every aggregate that it
	// touches. It is zero if all are proven. This change and all later ones must be delivered
	// again. What was counted already will be dropped by its mark or receipt.
	Unproven event.Sequence
	Err      error // the first reason why something is unproven
	Updates  int   // aggregate items written
	Dropped  int   // steps that were counted already
	Refused  int   // updates that the table will never accept; quarantined and flagged
	Large    int   // aggregate items that are large, as they themselves say
}

// Quarantine durably records that an update of an aggregate item is refused for good. It returns
// nil only if that is proven. Then the update counts as processed.
type Quarantine func(ctx context.Context, u *Update, cause error) error
