package contract

import "testing"

// Difference is one thing that a backend does otherwise than the service, or than the engine.
type Difference struct {
	Name    string
	Backend string // the one that differs from the engine
	Engine  string // what the engine does
	Other   string // what the backend does
	Source  string // what shows the engine right
}

// Differences are all that are known.
var Differences = []Difference{
	{"sums keep trailing zeros", "localstack", "0.3 and ADD -0.3 are 0", "they are 0.0 (DynamoDB Local adds with Java's BigDecimal)",
		"DynamoDB developer guide, Data types, Number: leading and trailing zeroes are trimmed"},
	{"one item twice in a batch of statements", "localstack", "the request is refused whole and nothing is written", "it is refused, and yet its statements are carried out",
		"capture of the service in nubo-db/dynoxide, src/actions/batch_execute_statement.rs: refused up front, before any statement runs"},
	{"an update of a transaction that can never be done", "localstack", "the transaction is cancelled with reason ValidationError at that item", "the request is refused with ValidationException",
		"API reference, TransactionCanceledException: ValidationError, \"An operand in the update expression has an incorrect data type.\""},
	{"capacity of statements", "localstack", "one entry for each table", "none is reported",
		"capture of the service in nubo-db/dynoxide, src/actions/batch_execute_statement.rs: aggregated across the statements"},
	{"capacity of a transaction", "localstack", "two units for each started KB of each write", "an update that creates its item counts for nothing",
		"DynamoDB developer guide, Transactions, capacity: two underlying writes of every item"},
	{"capacity of reading what is not there", "localstack", "one unit in BatchGetItem, as in GetItem", "nothing in BatchGetItem",
		"DynamoDB developer guide, Provisioned capacity, BatchGetItem: each item is an individual GetItem, and one that does not exist consumes a unit"},
	{"time to live twice", "localstack", "enabling what is enabled is refused", "it succeeds",
		"the service answers ValidationException, \"TimeToLive is already enabled\" (dynamoose pull request 754, aws-cdk pull request 13720)"},
	{"whose fault a refused letter is", "localstack", "SenderFault is true for InvalidMessageContents", "it is false",
		"API reference, BatchResultErrorEntry: whether the error happened due to the caller"},
}

// pick is engine, or other where the running backend is listed to differ in this.
func pick[T any](t testing.TB, h *Harness, name string, engine, other T) T {
	t.Helper()
	named := false
	for _, d := range Differences {
		if d.Name == name {
			named = true
			if d.Backend == h.Backend {
				return other
			}
		}
	}
	if !named {
		t.Fatalf("%q is not in Differences", name)
	}
	return engine
}
