// Package integration runs the main path against real clients and real endpoints: messages from
// SQS, through both handlers, to totals in DynamoDB that verify proves. It holds only tests.
//
// The engine in internal/local/embedded is compared with what LocalStack and Dynoxide do, in two
// ways: by one suite of cases (contract/), and by random streams of requests (twin/).
//
// The endpoint is INTEGRATION_ENDPOINT if that is set. Otherwise it is LocalStack in a container
// that the test run starts and ends (INTEGRATION_IMAGE names another image). If there is neither,
// tests of LocalStack skip with one line that says what is missing. With INTEGRATION_REQUIRED=1
// they fail instead. The same tests always run against the engine in internal/local/embedded too.
package integration
