// Package awserr judges the errors of DynamoDB, SQS and S3 where all three are alike: [Denied] tells what only a person
// can mend, and [Quiet] makes an error fit for a log. What an error means for one service's own requests, its
// package knows.
package awserr
