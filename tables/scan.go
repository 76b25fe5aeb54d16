package tables

import "github.com/ingot-events/ingot/event"

// Segment is the part of a table that a scan reads. The zero value is the whole table.
type Segment struct {
	// Number is the number of the segment, from 0, if the table is divided into Of segments. The
	// service reads several segments at the same time. Of 0 means that the table is not divided.
	Number, Of int
	// After lets a scan continue where another one ended: it is the Next of that scan's last page.
	// Number and Of must be the same as there. The zero value begins at the beginning.
	After event.Key
}

// Page is what one request of a scan brought.
type Page[T any] struct {
	All        []T
	Unreadable []*UnreadableItem // items that have Ingot's type but cannot be decoded
	Copies     []T               // items that are not in All: copies of rows whose type a migration has not turned yet
	Units      float64           // read units that the service has counted for the request
	Next       event.Key         // where the next page begins; zero after the last page
}

// Last reports whether no page follows.
func (p *Page[T]) Last() bool { return p.Next == event.Key{} }

// UnreadableItem is the error for a stored item that has Ingot's type but cannot be decoded.
type UnreadableItem struct {
	Key event.Key
	Err error
}

// Error says what cannot be understood.
func (o *UnreadableItem) Error() string { return o.Err.Error() }

// Unwrap returns Err.
func (o *UnreadableItem) Unwrap() error { return o.Err }
