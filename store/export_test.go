package store

import (
	"github.com/ingot-events/ingot/internal/table"
	"github.com/ingot-events/ingot/internal/table/rows"
)

// ErrTooLarge is the error of an answer that is too large to be read.
var ErrTooLarge = rows.ErrTooLarge

// Inside returns what the functions use.
func (s *Store) Inside() *table.Tables { return s.in }
