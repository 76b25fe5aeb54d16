// Package expr reads and evaluates what a request says in text: conditions and filters, updates,
// projections, key conditions and PartiQL statements. A [Cache] parses them, and [Bind] checks
// their placeholders. Then a [Condition] is evaluated for an item, and an [Update] is applied to
// it. The package knows no table, and stores nothing but parsed texts.
package expr
