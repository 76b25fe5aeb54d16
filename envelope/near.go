package envelope

import (
	"fmt"

	"github.com/ingot-events/ingot/event"
)

// near lists what a message may nearly be. members are those that all of its kind have, and least
// is how many of them show what was meant. The first one of sure kinds is among those.
var near = []struct {
	what    string
	members []string
	least   int
	sure    bool
}{
	{"an SNS notification", []string{"Type", "MessageId", "TopicArn", "Timestamp", "Message"}, 4, false},
	{"a CloudEvent", []string{"specversion", "id", "source", "type"}, 3, true},
	{"an EventBridge event", []string{"detail-type", "version", "id", "source", "account", "time", "region", "resources", "detail"}, 3,
		true},
	{"a record of SQS", []string{"messageId", "receiptHandle", "body", "eventSource"}, 3, false},
	{"a record of Kinesis", []string{"kinesisSchemaVersion", "data", "eventSource"}, 2, false},
	{"a request to API Gateway", []string{"httpMethod", "headers", "body"}, 3, false},
	{"a failed call that Lambda has kept", []string{"requestContext", "requestPayload"}, 2, false},
}

// Near says what a bare payload nearly is, and what it lacks: the reader of a refusal would
// otherwise look for the mistake in the pipeline. It is empty for other payloads.
func Near(payload event.Node) string {
	for _, n := range near {
		there, missing := 0, ""
		for _, name := range n.members {
			if payload.Member(name).Exists() {
				there++
			} else {
				missing = name
			}
		}
		switch of := n.what; {
		case there < n.least || n.sure && !payload.Member(n.members[0]).Exists():
		case missing != "" && n.least < len(n.members):
			return fmt.Sprintf("it is nearly %s, but has no %s", of, missing)
		default:
			return "it is nearly " + of + ", " + odd(payload, of)
		}
	}
	return ""
}

// odd says why a payload with all members of a kind is not of that kind.
func odd(payload event.Node, what string) string {
	switch what {
	case "an SNS notification":
		if kind := payload.Member("Type"); kind.Text() != "Notification" {
			return "but its Type is " + kind.Text()
		}
	case "a CloudEvent":
		if version := payload.Member("specversion"); version.Text() != specVersion {
			return "but its specversion is " + version.Text() + ", and only " + specVersion + " is read"
		}
	case "an EventBridge event":
		for _, name := range []string{"detail-type", "version", "id", "source", "account", "time", "region"} {
			if kind := payload.Member(name).Kind(); kind != event.String {
				return fmt.Sprintf("but its %s is %s, not a string", name, article(kind))
			}
		}
	default:
		return "which is not opened: send what is inside it"
	}
	return "but one of its members has another form"
}
