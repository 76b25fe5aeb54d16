// Package value has the items and values of DynamoDB. It copies, checks, measures and compares
// values ([Copy], [Size], [Equal], [Compare]). It has exact numbers ([Number]), and the [Item] that
// a table stores. It does not know tables or expressions.
package value
