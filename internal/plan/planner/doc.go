// Package planner turns events into items: it finds an event's type, time, id, keys, attributes,
// parts and expiry, and what its item adds to totals. Package pipeline fills in a [Planner] from a
// file that it has checked.
//
// Everything depends only on the event and the planner, so each delivery plans the same item.
package planner
