// Package envelope turns the bytes of one queue message into an event. It recognises the envelopes
// that events travel in, and takes the payload out. [Open] does both, and [Message] is what it
// reads. [OpenArray] does the same for a message that may bring several events.
//
// Recognition is strict. A message is an envelope only if every field that marks the format is
// there with the right type. Everything else stays a bare payload. These forms are recognised, from
// the outside in:
//
//   - CloudEvents, binary mode: the message attributes have specversion ("1.0"), id, source and
//     type under one prefix. The body is the data.
//   - CloudEvents, structured mode: the body is an object with specversion ("1.0"), id, source and
//     type, all of them non-empty strings. The payload is data, or the JSON inside data_base64.
//   - EventBridge: the body is an object with version ("0"), id, detail-type, source, account, time
//     and region as strings, resources as an array and detail as an object. The payload is detail,
//     or what is in detail if that is a CloudEvent in structured mode.
//   - SNS without raw message delivery: the body is an object with Type "Notification" and
//     MessageId, TopicArn, Message and Timestamp as strings. Message is then read in the same way,
//     once, with the notification's own MessageAttributes. With raw message delivery, nothing of
//     SNS is left.
//   - Anything else is a bare payload.
//
// # CloudEvents in message attributes
//
// CloudEvents has no binding for SQS. Producers use three prefixes, each from an existing binding.
// All three are understood: "ce-" (HTTP, NATS, Pub/Sub), "ce_" (Kafka) and "cloudEvents_" (AMQP).
// The other form of AMQP, "cloudEvents:", cannot occur, because the name of an SQS attribute has no
// colon. Names of SQS attributes are case-sensitive, and so are these: the rest of the name is in
// lower case, as CloudEvents demands. All four markers must have the same prefix. If there are
// several complete sets, the first in the order above counts.
//
// Some producers repeat the attributes of a structured event as message attributes, so that
// subscriptions can filter on them. If the body is itself a structured event with the same id,
// source and type, it is therefore read as structured. Any other body is the data.
//
// # Pointers
//
// The extended client libraries of SQS put a large payload into S3, and send a pointer to it: see
// [Pointer]. This package reads no S3. If the caller gives it the object's text as the message's
// Payload, it is opened in place of the pointer, with the attributes of the message. Otherwise the
// message is refused.
//
// # What is refused
//
// The payload must be a JSON object, and is parsed strictly. A recognised envelope with an unusable
// part is refused as a whole, for example if its time is not RFC 3339, or if it has data and
// data_base64.
package envelope
