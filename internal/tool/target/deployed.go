package target

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
)

// Stores says when the table gets the deployed pipeline.yaml.
func (t *Target) Stores() string {
	text := "the streams function stores it when it starts, with the next event"
	if t.Kind != KindLocal && t.StreamsFunction != "" {
		text += ", or at once with: aws lambda invoke --function-name " + t.StreamsFunction +
			` --cli-binary-format raw-in-base64-out --payload '{"Records":[]}' /dev/stdout`
	}
	return text
}

// Wake starts the streams function, as the first change after a deployment would. It counts
// nothing.
func (t *Target) Wake(ctx context.Context) error {
	out, err := t.Lambda().Invoke(ctx, &lambda.InvokeInput{FunctionName: &t.StreamsFunction, Payload: []byte(`{"Records":[]}`)})
	switch {
	case Refused(err):
		return Denied(err, "the credentials may not wake function %s: %s", t.StreamsFunction, Reason(err))
	case err != nil:
		return fmt.Errorf("waking function %s: %s", t.StreamsFunction, Reason(err))
	case out.FunctionError != nil:
		return fmt.Errorf("function %s does not start: %s", t.StreamsFunction, out.Payload)
	}
	return nil
}

// Secret returns the secret for hmac: INGOT_PII_KEY, or else the one that the stack keeps. It is
// nil if there is neither.
func (t *Target) Secret(ctx context.Context) ([]byte, error) {
	if t.env != nil {
		if value, _ := t.env(secretVariable); value != "" {
			return []byte(value), nil
		}
	}
	if t.SecretARN == "" {
		return nil, nil
	}
	out, err := secretsmanager.NewFromConfig(t.AWS).GetSecretValue(ctx, &secretsmanager.GetSecretValueInput{SecretId: &t.SecretARN})
	switch {
	case Refused(err):
		return nil, Denied(err, "the credentials may not read the secret %s: %s; set INGOT_PII_KEY, or leave out what needs a hash",
			t.SecretARN, Reason(err))
	case err != nil:
		return nil, fmt.Errorf("reading the secret %s: %s", t.SecretARN, Reason(err))
	case out.SecretString == nil:
		return nil, fmt.Errorf("the secret %s holds no text", t.SecretARN)
	}
	return []byte(*out.SecretString), nil
}
