// Package value is what DynamoDB knows of an item and its values, whatever table they are in: how they are
// copied, checked, measured and compared ([Copy], [Size], [Equal], [Compare]), exact numbers, and the [Item] that
// a table stores. It knows no expression.
package value
