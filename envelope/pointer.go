package envelope

import "github.com/ingot-events/ingot/event"

// Pointer is where the payload of a message is, if it is too large for the message.
type Pointer struct {
	Bucket string
	Key    string
}

// PointerOf returns the pointer that a message has in place of its payload. An SNS notification may
// have one as its Message. It returns false for every other message.
func PointerOf(m Message) (Pointer, bool) {
	doc, err := event.ParseDocument(m.Body)
	if err != nil {
		return Pointer{}, false
	}
	if p, is := pointer(doc.Root()); is {
		return p, true
	}
	inner, is := notification(doc.Root())
	if !is {
		return Pointer{}, false
	}
	if doc, err = event.ParseDocument(inner.Body); err != nil {
		return Pointer{}, false
	}
	return pointer(doc.Root())
}

// pointer recognises what the extended client libraries send in place of a large payload: an array
// of a class name and a place in S3. The second class is the one that the Java library writes
// before version 2. The libraries for Python, JavaScript and Go write one of the two as well. They
// also add an attribute with the payload's size, ExtendedPayloadSize or SQSLargePayloadSize. It
// does not always arrive as an attribute: an SNS subscription without raw delivery moves it into
// the body. So this function does not look at it. An array of events never looks like this, because
// its elements are objects.
func pointer(root event.Node) (Pointer, bool) {
	if root.Kind() != event.Array || root.Len() != 2 || root.Index(0).Kind() != event.String {
		return Pointer{}, false
	}
	switch root.Index(0).Text() {
	case "software.amazon.payloadoffloading.PayloadS3Pointer", "com.amazon.sqs.javamessaging.MessageS3Pointer":
	default:
		return Pointer{}, false
	}
	bucket, hasBucket := text(root.Index(1), "s3BucketName")
	key, hasKey := text(root.Index(1), "s3Key")
	return Pointer{bucket, key}, hasBucket && hasKey
}

// openPointer opens a message by the text of the object that it points to. The attributes are those
// of the message. A pointer inside that object, or in an array of events, is not followed. elements
// is as in open.
func openPointer(p Pointer, m Message, elements *[]Message) (Opened, *event.Refusal) {
	switch {
	case m.of != nil:
		return Opened{}, event.Poisoned(event.PayloadElsewhere, "it is a pointer to S3 (bucket "+p.Bucket+", key "+p.Key+
			"), which is followed only if it is the whole message")
	case m.Payload == nil:
		return Opened{}, event.Poisoned(event.PayloadElsewhere, "the payload is in S3 (bucket "+p.Bucket+", key "+p.Key+
			"), and was not read: the ingest function reads it if parameter PointerBucket of the template names the bucket")
	}
	opened, refusal := open(Message{Body: *m.Payload, Attributes: m.Attributes, inSNS: m.inSNS}, elements)
	if refusal != nil {
		if refusal.Reason == event.PayloadElsewhere {
			refusal = event.Poisoned(event.BadEnvelope, "another pointer, which is not followed")
		}
		refusal.Detail = "in the object that the message points to: " + refusal.Detail
		return Opened{}, refusal
	}
	return opened, nil
}
