// Package s3 is the engine's S3: buckets and whole objects. [New] returns the [Buckets]; their client has the
// signatures of the AWS SDK. There are no versions, no parts and no policies.
package s3
