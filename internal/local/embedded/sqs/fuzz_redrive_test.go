package sqs

import (
	"encoding/json"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/corpus"
)

// FuzzRedrive reads a queue's redrive policy.
func FuzzRedrive(f *testing.F) {
	corpus.Add(f)
	for _, seed := range []string{`{"deadLetterTargetArn":"arn:aws:sqs:us-east-1:0:dlq","maxReceiveCount":5}`,
		`{"deadLetterTargetArn":"a","maxReceiveCount":"1000"}`,
		`{"deadLetterTargetArn":"a","maxReceiveCount":0}`, `{"maxReceiveCount":1}`, `{"deadLetterTargetArn":"a","maxReceiveCount":"\"1\""}`,
		`null`, `[]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		r, err := parseRedrive(value)
		if err != nil {
			return
		}
		var plain map[string]any
		if json.Unmarshal([]byte(value), &plain) != nil || r.target == "" || r.maximum < 1 || r.maximum > 1000 || r.describe != value {
			t.Fatalf("%q is read as %+v", value, r)
		}
	})
}
