package contract

import "testing"

// Difference is one thing that a backend does differently from the service or from the engine.
type Difference struct {
	Name    string
	Backend string // the one that differs from the engine
	Engine  string // what the engine does
	Other   string // what the backend does
	Source  string // what shows the engine right
}

// These are sources that several differences name.
const (
	docs        = "https://docs.aws.amazon.com/amazondynamodb/latest/"
	guide       = docs + "developerguide/"
	reference   = docs + "APIReference/"
	streamsAPI  = reference + "API_streams_"
	captures    = "https://github.com/nubo-db/dynoxide/blob/main/src/actions/batch_execute_statement.rs"
	conformance = "https://github.com/paritysuite/dynamodb-conformance/blob/main/tests/"
	enabled     = `the service answers "TimeToLive is already enabled": https://github.com/aws/aws-cdk/pull/13720, https://github.com/dynamoose/dynamoose/pull/754`
)

// Differences are all that are known. A run on a backend fails if one of them is no longer true.
var Differences = []Difference{
	{"sums keep trailing zeros", "localstack", "ADD -0.3 to 0.3 makes 0", "it makes 0.0: DynamoDB Local adds with Java's BigDecimal",
		`"Leading and trailing zeroes are trimmed": ` + guide + "HowItWorks.NamingRulesDataTypes.html"},
	{"numbers inside a map of a statement", "localstack", "1.50 is stored as 1.5, in a map as elsewhere", "it stays 1.50 in a map",
		`"Leading and trailing zeroes are trimmed": ` + guide + "HowItWorks.NamingRulesDataTypes.html"},
	{"an index key of another type", "localstack", "an update that sets an index key of another type is refused", "UpdateItem stores it",
		`asserted on the service, "Update wrong-typed index key": ` + conformance + "tier3/error-messages/transactWriteItems.test.ts"},
	{"one item twice in a batch of statements", "localstack", "the request is refused as a whole, and nothing is written",
		"the request is refused, but its statements are carried out",
		"captured from the service, refused before any statement runs: " + captures},
	{"an impossible update in a transaction", "localstack", "the transaction is cancelled with reason ValidationError at that item",
		"the request is refused with ValidationException",
		`"ValidationError", "An operand in the update expression has an incorrect data type": ` + reference +
			"API_TransactWriteItems.html"},
	{"one item twice in a transaction", "localstack", "the request is refused with ValidationException",
		"if other items stand between the two, the second write is judged after the first",
		`"cannot include multiple operations on one item", asserted on the service: ` + conformance +
			"tier3/error-messages/transactWriteItems.test.ts"},
	{"capacity of statements", "localstack", "the consumed capacity has one entry for each table", "there is no entry",
		"captured from the service, added up across the statements: " + captures},
	{"capacity of a transaction", "localstack", "each write takes two units for each started KB",
		"an update that creates its item takes none",
		"there are two underlying writes of every item: " + guide + "transaction-apis.html"},
	{"capacity of reading what is not there", "localstack", "reading a missing item takes one unit in BatchGetItem, as in GetItem",
		"it takes none in BatchGetItem",
		"each item of a BatchGetItem is a GetItem, and one that does not exist consumes a unit: " + guide + "read-write-operations.html"},
	{"capacity of a query that finds nothing", "localstack",
		"a query that finds nothing takes half a unit, and a whole one if it is consistent", "it takes none",
		"queries are charged by the partitions that they search, even if these hold nothing: " + guide + "read-write-operations.html"},
	{"an index that is not there", "localstack", "a query of an index that the table does not have is refused with ValidationException",
		"it is a ResourceNotFoundException",
		`the service answers "ValidationException", "The table does not have the specified index": https://github.com/awslabs/aws-sdk-ios-samples/issues/58`},
	{"time to live twice", "localstack", "enabling time to live a second time is refused", "it succeeds", enabled},
	{"whose fault a refused letter is", "localstack", "SenderFault is true for InvalidMessageContents", "it is false",
		"whether the error happened due to the caller: " +
			"https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_BatchResultErrorEntry.html"},

	{"a stream that is off", "dynoxide", "its records can still be read, and are not in the next one",
		"it is gone, and its records are in the next one",
		`"the data in the stream continues to be readable for 24 hours": ` + guide + "Streams.html"},
	{"a stream that is on already", "dynoxide", "it is not switched on again", "it is",
		`"You receive a ValidationException if you try to enable a stream on a table that already has a stream": ` +
			reference + "API_UpdateTable.html"},
	{"operators are not counted", "dynoxide", "an expression of over 300 operators is refused", "it is carried out",
		"https://docs.aws.amazon.com/code-library/latest/ug/dynamodb_example_dynamodb_Scenario_ExpressionOperatorCounting_section.html"},
	{"a statement that is too long", "dynoxide", "a request with a statement of over 8,192 characters is refused", "it is carried out",
		`Statement, "Maximum length of 8192": ` + reference + "API_BatchStatementRequest.html"},
	{"a sum with a missing attribute", "dynoxide", "the statement SET a = a + ? is refused if there is no a", "a counts as 0",
		`"The provided expression refers to an attribute that does not exist in the item", as DynamoDB Local says; about expressions: ` +
			guide + "Expressions.UpdateExpressions.html"},
	{"a reserved word without quotes", "dynoxide", "the statement SET count = count + ? is not well formed", "it is carried out",
		"reserved words need double quotes, and DynamoDB Local refuses them: " + guide + "ql-reference.html"},
	{"several attributes to remove", "dynoxide", "each attribute to remove has a REMOVE of its own", "a second REMOVE is not well formed",
		"[SET | REMOVE] path […], as DynamoDB Local takes it: " + guide + "ql-reference.update.html"},
	{"a quoted name in a sum", "dynoxide", `SET "count" = "count" + ? adds`, "the statement is not well formed",
		"reserved words need double quotes, and DynamoDB Local adds: " + guide + "ql-reference.html"},
	{"an invalid expression in a transaction", "dynoxide", "the request is refused with ValidationException",
		"the transaction is cancelled with reason ValidationError at that item",
		"asserted on the service, refused before any action runs, whichever carries it: " + conformance +
			"tier3/validation-ordering/transactions.test.ts"},
	{"keys of a query", "dynoxide", "a key that is empty or of another type is refused", "the query finds nothing",
		`the service answers "cannot contain an empty string value. Key: PK": https://github.com/getmoto/moto/issues/7062, and DynamoDB Local refuses both`},
	{"a start in another partition", "dynoxide", "a query that begins behind a key of another partition is refused", "it is carried out",
		`the service answers "The provided starting key is outside query boundaries": https://github.com/floci-io/floci/pull/3389`},
	{"an item that is almost full", "dynoxide", "an update may fill an item to 400 KB",
		"each action of the update counts for 19 bytes more",
		`asserted on the service, where these count beside what is written and not beside what is there: ` + conformance +
			"tier3/limits/itemSizeBySurface.test.ts"},
	{"time to live twice", "dynoxide", "enabling time to live a second time is refused", "it succeeds", enabled},
	{"a put that changes nothing", "dynoxide", "a put that changes nothing leaves no record in the stream",
		"it leaves a MODIFY with two equal images",
		`"does not write a stream record for that operation": ` + guide + "Streams.html"},
	{"sequence numbers", "dynoxide", "sequence numbers have 21 to 40 digits", "they count from 1",
		`SequenceNumber, "Minimum length of 21. Maximum length of 40": ` + streamsAPI + "StreamRecord.html"},
	{"a stream or a shard that is not there", "dynoxide", "a missing stream or shard is a ResourceNotFoundException",
		"the stream of the table answers instead",
		"ResourceNotFoundException: " + streamsAPI + "GetShardIterator.html"},
}

// pick returns engine. If the running backend is listed as different in this, it returns other.
func pick[T any](t testing.TB, h *Harness, name string, engine, other T) T {
	t.Helper()
	h.asks(name)
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
