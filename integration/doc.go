// Package integration runs the main path against real clients and real endpoints: messages from SQS, through
// both handlers, to totals in DynamoDB that verify proves. It holds tests only.
//
// The engine in internal/embedded is held to what LocalStack and Dynoxide do: one suite of cases (contract/), and
// random streams of requests (twin/).
//
// The endpoint is INTEGRATION_ENDPOINT if set, else LocalStack in a container that the test run starts and
// ends (INTEGRATION_IMAGE: another image). Where there is neither, tests of LocalStack skip with one line that
// says what is missing; INTEGRATION_REQUIRED=1 turns that into a failure. The same tests always run against
// the engine in internal/embedded.
package integration
