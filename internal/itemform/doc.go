// Package itemform knows the form of an event's item in the table: which names of attributes are
// Ingot's own ([OwnAttributes], [IsOwnAttribute]), how its indexes are named ([IsIndex]), and how
// many bytes a number takes ([NumberSize]). It does not know what an event is.
package itemform
