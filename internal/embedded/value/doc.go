// Package value is what DynamoDB knows of an item and its values, independent of tables. It copies,
// checks, measures and compares values ([Copy], [Size], [Equal], [Compare]). It has exact numbers
// ([Number]), and the [Item] that a table stores. It does not know expressions.
package value
