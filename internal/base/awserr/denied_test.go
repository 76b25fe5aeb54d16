package awserr_test

import (
	"errors"
	"fmt"
	"testing"

	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	sqstypes "github.com/aws/aws-sdk-go-v2/service/sqs/types"
	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/base/awserr"
)

// Denied tells what a person must mend from what time mends, in the words of each service.
func TestDenied(t *testing.T) {
	coded := func(code string) error { return &smithy.GenericAPIError{Code: code} }
	for _, err := range []error{coded("AccessDenied"), coded("AccessDeniedException"), coded("KMS.AccessDeniedException"),
		coded("KMS.DisabledException"),
		coded("KmsDisabled"), coded("KMSInvalidState"), // of S3, SQS and SNS
		coded("AWS.SimpleQueueService.NonExistentQueue"),
		coded("InvalidClientTokenId"), coded("ExpiredToken"), coded("ExpiredTokenException"), coded("SignatureDoesNotMatch"),
		coded("InvalidAccessKeyId"),
		coded("InvalidAddress"), coded("AllAccessDisabled"), &dynamodbtypes.ResourceNotFoundException{}, &sqstypes.QueueDoesNotExist{},
		&s3types.NoSuchBucket{}} {
		if !awserr.Denied(err) || !awserr.Denied(fmt.Errorf("wrapped: %w", err)) {
			t.Errorf("%v: asking again can help", err)
		}
		if awserr.Refuses(err) {
			t.Errorf("%v: refused for what is in it", err)
		}
	}
	for _, err := range []error{nil, errors.New("AccessDenied"), coded("ThrottlingException"), coded("SlowDown"), coded("InternalError"),
		coded("RequestThrottled"), coded("KmsThrottled"), coded("KMS.ThrottlingException"),
		coded("AccessDeniedForNow"), coded("ValidationException"), &dynamodbtypes.InternalServerError{}} {
		if awserr.Denied(err) {
			t.Errorf("%v: asking again cannot help", err)
		}
		if code := awserr.Code(err); awserr.Refuses(err) != (code == "AccessDeniedForNow" || code == "ValidationException") {
			t.Errorf("%v: refused for what is in it: %t", err, awserr.Refuses(err))
		}
	}
}
