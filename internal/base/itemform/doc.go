// Package itemform knows the form of an event's item in the table: which names of attributes are
// Ingot's own ([OwnAttributes], [IsOwnAttribute]), how its indexes are named ([IsIndex]), how many
// bytes a number takes ([NumberSize]), and what a put costs ([WriteUnits]). It does not know what
// an event is.
package itemform
