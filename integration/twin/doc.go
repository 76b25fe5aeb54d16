// Package twin lets two DynamoDBs live the same life: random streams of the requests that package store sends,
// sent to one after the other. Every answer must be the same, and in the end both tables.
package twin
