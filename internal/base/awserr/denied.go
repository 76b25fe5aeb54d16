package awserr

import (
	"errors"
	"strings"

	"github.com/aws/smithy-go"
)

// Denied reports whether err is a service's refusal for permissions, or says that the table, queue
// or bucket does not exist. Only a person can mend that. Asking again would use up the batch's
// time, which other requests need. Denied knows the codes of DynamoDB, SQS and S3.
func Denied(err error) bool { return DeniedCode(Code(err)) }

// Code returns the code with which a service has refused a request, such as NoSuchKey. It is empty
// if err is not an answer of a service.
func Code(err error) string {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	return ""
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
