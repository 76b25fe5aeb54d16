// Package dynamo is the engine's DynamoDB: tables with their indexes, streams, time to live, and
// the capacity that each request would be charged. [New] returns the [Service]. Their clients have
// the signatures of the AWS SDK. Package expr reads the expressions of a request.
package dynamo
