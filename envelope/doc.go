// Package envelope turns the bytes of one queue message into an event: it recognises the envelopes that
// events travel in and takes the payload out.
//
// Recognition is strict. A message is an envelope only if every field that marks the format is there with
// the right type; whatever is not recognised stays what it was, a bare payload. From the outside in:
//
//   - CloudEvents, binary mode: the message attributes carry specversion ("1.0"), id, source and type under
//     one prefix; the body is the data.
//   - CloudEvents, structured mode: the body is an object with specversion ("1.0"), id, source and type, all
//     non-empty strings; the payload is data, or the JSON inside data_base64.
//   - EventBridge: the body is an object with version ("0"), id, detail-type, source, account, time and
//     region as strings, resources as an array and detail as an object; the payload is detail.
//   - SNS without raw message delivery: the body is an object with Type "Notification" and MessageId,
//     TopicArn, Message and Timestamp as strings. Message is then looked at again, once, with the
//     notification's own MessageAttributes. With raw message delivery nothing is left of SNS.
//   - Anything else is a bare payload.
//
// # CloudEvents in message attributes
//
// CloudEvents has no binding for SQS. Three prefixes are in use by producers that carry an existing binding
// over, and all three are understood: "ce-" (HTTP, NATS, Pub/Sub), "ce_" (Kafka) and "cloudEvents_" (AMQP;
// its other form "cloudEvents:" cannot occur, since an SQS attribute name has no colon). SQS attribute names
// are case-sensitive, and so is this: the rest of the name is in lower case, as CloudEvents demands of
// attribute names. All four markers must have the same prefix. Of several complete sets, the first in the
// order above counts.
//
// Some producers repeat the attributes of a structured event as message attributes so that subscriptions can
// filter on them. A body that is itself a structured event with the same id, source and type is therefore
// read as structured; any other body is the data.
//
// # What is refused
//
// The payload must be a JSON object, strictly parsed. A message whose payload lies in S3 (the extended client
// libraries' pointer) is refused as such. A recognised envelope with an unusable part (a time that is not
// RFC 3339, data beside data_base64) is refused rather than read in part.
package envelope
