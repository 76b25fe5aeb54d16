// Package publish sends what happens to stored events to EventBridge, SNS or SQS, as CloudEvents
// whose id is the same each time. publish.yaml says what is sent and where to: [Load]. [Publisher]
// sends it, from the events table's stream. [Start] is the Lambda function of it.
//
// Each event is sent at least once, for as long as the stream remembers it, which is 24 hours. Its
// id depends on what is stored alone: the source in publish.yaml, the item's key, the digest of its
// payload and its revision. It never depends on a place in the stream, so a redelivery, a new
// stream, a restored table and [Publisher.Again] send the same one. A receiver that stores under a
// key made from the payload, as a second Ingot does, therefore stores each event once.
//
// The function's whole main is one call. Both files are built into the binary:
//
//	//go:embed pipeline.yaml publish.yaml
//	var files embed.FS
//
//	func main() { publish.Start(files) }
package publish
