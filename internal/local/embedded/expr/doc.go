// Package expr reads and evaluates the expressions of a request: conditions and filters, updates,
// projections, key conditions and PartiQL statements. A [Cache] parses them, and [Bind] checks
// their placeholders. Then a [Condition] is evaluated for an item, and an [Update] is applied to
// it. The package does not know tables, and stores nothing except parsed expressions.
package expr
