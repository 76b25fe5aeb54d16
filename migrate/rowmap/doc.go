// Package rowmap reads migration.yaml, and says what becomes of a row of the old table: which
// events ([Mapping.Map]), what the row is called ([NameOf]), and which attributes an event sets in
// its row on the way back ([Mapping.RowOf]).
//
// It is pure: it reads no table.
package rowmap
