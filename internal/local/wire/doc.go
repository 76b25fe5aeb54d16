// Package wire serves the in-process engine over HTTP, in the protocols of AWS: AWS JSON for
// DynamoDB, DynamoDB Streams and SQS, and REST for S3. So any AWS SDK and the AWS CLI can use the
// engine, with AWS_ENDPOINT_URL.
//
// [New] returns the handler. The operations in AWS JSON are methods of the engine's clients, and
// the types of the AWS SDK say what a request and an answer hold. The package nearby has an HTTP
// client for such an endpoint.
//
// The package does not check credentials and signatures. It does not listen, and it stores nothing.
package wire
