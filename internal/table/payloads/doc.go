// Package payloads reads and writes payloads in S3. A [Reader] reads the payload to which a message
// points, because it is too large for a message. A [Bucket] keeps the payloads of items that are
// too large for the table. Of events it decides one thing: which of them are too far in the future
// for the bucket ([IsAhead]).
package payloads
