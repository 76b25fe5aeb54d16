// Package wire serves the in-process engine over HTTP, in the protocols of AWS: AWS JSON for DynamoDB, DynamoDB
// Streams and SQS, and REST for S3. Any AWS SDK and the AWS CLI can use the engine so, with AWS_ENDPOINT_URL.
//
// [New] returns the handler. It knows no operation by itself: the methods of the engine's clients are the operations,
// and the types of the AWS SDK say what a request and an answer hold. Credentials and signatures are not checked.
//
// It does not listen, and it keeps nothing.
package wire
