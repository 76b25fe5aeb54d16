package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/ingot-events/ingot/internal/local/stack"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/internal/prove/peers/dynoxide"
)

// emulator is a DynamoDB in its own process. Each run has a fresh one.
type emulator struct {
	*dynoxide.Process
}

// startEmulator starts the binary. It returns when the emulator has both tables.
func startEmulator(ctx context.Context, binary string) (*emulator, error) {
	p, err := dynoxide.Start(ctx, binary)
	if err != nil {
		return nil, err
	}
	e := &emulator{p}
	if err := e.prepare(ctx); err != nil {
		e.Close()
		return nil, fmt.Errorf("emulator %s: %w", binary, err)
	}
	return e, nil
}

func (e *emulator) prepare(ctx context.Context) error {
	client := dynamodb.New(dynamodb.Options{BaseEndpoint: &e.URL, Region: "eu-central-1",
		Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")})
	for _, table := range []string{eventsTable, totalsTable} {
		if _, err := (stack.Table{Name: table}).Create(ctx, client); err != nil {
			return err
		}
	}
	return nil
}

// These are the names of the two tables.
const (
	eventsTable = "events"
	totalsTable = "totals"
)

// image is a stored item in the service's own JSON.
type image map[string]struct {
	S string `json:",omitempty"`
	N string `json:",omitempty"`
	B string `json:",omitempty"`
}

// scan reads a whole table, beside the item with the home Region.
func (e *emulator) scan(ctx context.Context, table string) ([]image, error) {
	var items []image
	request := map[string]any{"TableName": table}
	for {
		body, err := json.Marshal(request)
		if err != nil {
			return nil, err
		}
		answer, err := e.call(ctx, "Scan", body)
		if err != nil {
			return nil, err
		}
		var page struct {
			Items            []image
			LastEvaluatedKey json.RawMessage
		}
		if err := json.Unmarshal(answer, &page); err != nil {
			return nil, fmt.Errorf("scan of %s: %w", table, err)
		}
		for _, item := range page.Items {
			if item["PK"].S != lanes.HomeKey.PK {
				items = append(items, item)
			}
		}
		if len(page.LastEvaluatedKey) == 0 || string(page.LastEvaluatedKey) == "null" {
			return items, nil
		}
		request["ExclusiveStartKey"] = page.LastEvaluatedKey
	}
}

// call sends one request without any SDK.
func (e *emulator) call(ctx context.Context, operation string, body []byte) ([]byte, error) {
	return call(ctx, http.DefaultClient, e.URL, operation, body)
}

func call(ctx context.Context, client *http.Client, url, operation string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("X-Amz-Target", "DynamoDB_20120810."+operation)
	request.Header.Set("Content-Type", "application/x-amz-json-1.0")
	// The emulator requires the form of a signature but does not check it.
	request.Header.Set("X-Amz-Date", "20990101T000000Z")
	request.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=id/20990101/eu-central-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	response, err := client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", operation, err)
	}
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d: %.300s", operation, response.StatusCode, answer)
	}
	return answer, nil
}
