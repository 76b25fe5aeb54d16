// Package tables has the words in which a program and Ingot speak of the two tables: the
// configuration, what a call has answered and cost, and what is stored.
//
// Packages store, query and handler are made from its [Config].
package tables
