// Package expr reads and evaluates what a request says in text: conditions and filters, updates, projections,
// key conditions and PartiQL statements. A [Cache] parses them and [Bind] checks their placeholders; then a
// [Condition] is evaluated over an item, and an [Update] applied to it. The package knows no table and stores
// nothing but parsed texts.
package expr
