// Package embedded is an in-process engine for the calls that Ingot makes to DynamoDB, DynamoDB Streams,
// SQS and S3. Its clients have the method signatures of the AWS SDK for Go v2, so the code that runs in
// production runs on it unchanged, and they answer with the services' own semantics: conditions, limits,
// capacity, shards that roll, visibility timeouts, time to live.
//
// What the engine does not implement it refuses with an UnsupportedError that names the field or the
// expression; nothing is silently ignored. (The per-call option functions are accepted and unused: they
// configure transport and retries, and the engine has neither.)
//
// Items are immutable once stored: a write copies its input, and every read answers with a fresh map whose
// attribute values are shared with the store. A caller may change the map, but must not change a value in it.
// A stream record is shared as a whole: nobody may change its maps either.
//
// This package is the façade. What the engine does is in the packages below it: dynamo (tables and streams),
// sqs and s3, which do not know each other; expr (expressions and statements) and value (items and their
// values), on which dynamo stands; and api, which all of them share.
package embedded
