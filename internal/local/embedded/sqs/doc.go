// Package sqs is the engine's SQS: standard and FIFO queues, visibility, redrive and dead-letter
// queues. [New] returns the [Queues]. Their client has the signatures of the AWS SDK.
package sqs
