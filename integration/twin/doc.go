// Package twin lets two DynamoDBs live the same life. [Stream] returns random requests as package
// store sends them, and [Twins] sends them to both, one after the other. Every answer must be the
// same, and in the end both tables.
package twin
