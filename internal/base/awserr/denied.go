package awserr

import (
	"errors"
	"strings"

	"github.com/aws/smithy-go"
)

// Denied reports whether err is a service's refusal for permissions, or says that the table, queue
// or bucket does not exist. Only a person can mend that. Asking again would use up the batch's
// time, which other requests need. Denied knows the codes of DynamoDB, SQS and S3.
func Denied(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && DeniedCode(api.ErrorCode())
}

// DeniedCode reports whether an error code is one that [Denied] means. Services write codes with
// and without a prefix, and with and without the word Exception.
func DeniedCode(code string) bool {
	code = strings.TrimPrefix(strings.TrimPrefix(code, "AWS.SimpleQueueService."), "KMS.")
	switch strings.TrimSuffix(code, "Exception") {
	case "AccessDenied", "NotAuthorized", "OptInRequired", "AllAccessDisabled", // permissions
		"UnrecognizedClient", "InvalidClientTokenId", "InvalidAccessKeyId", "MissingAuthenticationToken", "ExpiredToken", // credentials
		"InvalidSignature", "IncompleteSignature", "SignatureDoesNotMatch",
		"ResourceNotFound", "NonExistentQueue", "QueueDoesNotExist", "InvalidAddress", "NoSuchBucket": // the thing itself
		return true
	}
	return false
}
