package awserr

import (
	"errors"
	"strings"

	"github.com/aws/smithy-go"
)

// Denied reports whether err is a service's word that we may not ask, or that the table, queue or bucket is not
// there. Only a person mends that: to ask again within the batch would use up the time of what can still be done.
// It knows the codes of DynamoDB, SQS and S3.
func Denied(err error) bool {
	var api smithy.APIError
	return errors.As(err, &api) && DeniedCode(api.ErrorCode())
}

// DeniedCode judges an error code as [Denied] does. Services write codes services write with and without a prefix and the word Exception.
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
