//go:build !ingotlocal

package function

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/smithy-go/logging"
)

// lambdaConfig returns the AWS configuration that Lambda's environment describes.
//
// config.LoadDefaultConfig would return the same. But it also supports shared files, profiles and
// four sign-in services, which Lambda does not have. Linking that code makes each cold start a
// tenth longer and the binary 2 MB larger.
func lambdaConfig() (aws.Config, error) {
	fips, err := trueOrFalse("AWS_USE_FIPS_ENDPOINT")
	if err != nil {
		return aws.Config{}, err
	}
	dualStack, err := trueOrFalse("AWS_USE_DUALSTACK_ENDPOINT")
	if err != nil {
		return aws.Config{}, err
	}
	e := lambdaEnvironment{fips, dualStack}
	c := aws.Config{
		Region:        os.Getenv("AWS_REGION"),
		Credentials:   aws.NewCredentialsCache(e),
		HTTPClient:    bounded(nil),
		Logger:        logging.NewStandardLogger(os.Stderr),
		ConfigSources: []any{e},
		// These two are defaults that the clients do not set themselves.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}
	if url := os.Getenv("AWS_ENDPOINT_URL"); url != "" {
		c.BaseEndpoint = &url
	}
	return c, nil
}

// lambdaEnvironment supplies the settings that the SDK's clients need and that [aws.Config] has no
// field for.
type lambdaEnvironment struct{ fips, dualStack bool }

// Retrieve returns the credentials of the function's role. They are valid for as long as the
// sandbox lives.
func (lambdaEnvironment) Retrieve(context.Context) (aws.Credentials, error) {
	c := aws.Credentials{AccessKeyID: os.Getenv("AWS_ACCESS_KEY_ID"), SecretAccessKey: os.Getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: os.Getenv("AWS_SESSION_TOKEN"), AccountID: os.Getenv("AWS_ACCOUNT_ID"), Source: "EnvConfigCredentials"}
	if !c.HasKeys() {
		return c, errors.New("AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set: Lambda sets them; outside of Lambda, give the " +
			"function an AWS configuration (Options.AWS)")
	}
	return c, nil
}

// GetServiceBaseEndpoint returns the endpoint of one service, such as AWS_ENDPOINT_URL_DYNAMODB.
func (lambdaEnvironment) GetServiceBaseEndpoint(_ context.Context, service string) (string, bool, error) {
	url := os.Getenv("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(service), " ", "_"))
	return url, url != "", nil
}

// GetUseFIPSEndpoint returns whether clients use FIPS endpoints.
func (e lambdaEnvironment) GetUseFIPSEndpoint(context.Context) (aws.FIPSEndpointState, bool, error) {
	return aws.FIPSEndpointStateEnabled, e.fips, nil
}

// GetUseDualStackEndpoint returns whether clients use endpoints that also support IPv6.
func (e lambdaEnvironment) GetUseDualStackEndpoint(context.Context) (aws.DualStackEndpointState, bool, error) {
	return aws.DualStackEndpointStateEnabled, e.dualStack, nil
}

// trueOrFalse reads a variable of the SDK that must be true or false. The SDK would ignore any
// other value without an error.
func trueOrFalse(name string) (bool, error) {
	switch value := os.Getenv(name); {
	case strings.EqualFold(value, "true"):
		return true, nil
	case value == "", strings.EqualFold(value, "false"):
		return false, nil
	default:
		return false, fmt.Errorf("%s is %q: write true or false", name, value)
	}
}
