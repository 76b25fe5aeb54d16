// Command function stores each message in the way it is told to. It does not use the AWS SDK, so
// the tests need not compile it.
package main

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
)

func main() {
	lambda.Start(func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		var response events.SQSEventResponse
		for _, m := range event.Records {
			switch m.Body {
			case "skip": // success without a write
			case "fail":
				response.BatchItemFailures = append(response.BatchItemFailures, events.SQSBatchItemFailure{ItemIdentifier: m.MessageId})
			case "die":
				println("out of memory")
				os.Exit(2)
			default:
				if err := put(ctx); err != nil {
					return response, err
				}
			}
		}
		return response, nil
	})
}

func put(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("AWS_ENDPOINT_URL"), strings.NewReader(`{"TableName":"events"}`))
	if err != nil {
		return err
	}
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810.PutItem")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}
