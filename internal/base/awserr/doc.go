// Package awserr judges the errors of DynamoDB, SQS and S3 where all three are alike. [Denied]
// reports whether only a person can mend an error. [Quiet] makes an error fit for a log. What an
// error means for the requests of one service is left to the package of that service.
package awserr
