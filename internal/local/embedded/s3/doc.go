// Package s3 is the engine's S3: buckets and whole objects. [New] returns the [Buckets]. Their
// client has the signatures of the AWS SDK. There are no versions, parts or policies.
package s3
