// Package embedded is an in-process engine for the calls that Ingot makes to DynamoDB, DynamoDB
// Streams, SQS and S3. [New] returns an [Engine]. Its clients have the method signatures of the AWS
// SDK for Go v2, so the code that runs in production runs on the engine unchanged. The clients
// follow the semantics of the services: conditions, limits, capacity, shards that roll, visibility
// timeouts, time to live.
//
// The engine refuses what it does not implement with an [UnsupportedError] that names the field or
// the expression. It never ignores an input silently. (It accepts the option functions of each call
// and does not use them: they configure transport and retries, and the engine has neither.)
//
// Stored items are immutable. A write copies its input. Every read answers with a new map, but the
// attribute values in it are shared with the store. A caller may change the map, but must not
// change a value in it. A stream record is shared as a whole, so nobody may change its maps either.
//
// This package is the façade. The packages below it do the work: dynamo (tables and streams), sqs
// and s3, which do not know each other; expr (expressions and statements) and value (items and
// their values), which dynamo uses; and api, which all of them share.
package embedded
