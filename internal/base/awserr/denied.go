package awserr

import (
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/smithy-go"
)

// Denied reports whether err is a service's refusal for permissions, or says that the table, queue
// or bucket does not exist. Only a person can mend that. Asking again would use up the batch's
// time, which other requests need. Denied knows the codes of DynamoDB, SQS and S3.
func Denied(err error) bool { return DeniedCode(Code(err)) }

// Refuses reports whether err is a service's refusal of what is in a request. The same request will
// be refused again. If it has several entries, one of them may be the reason, and a request for
// each tells which.
func Refuses(err error) bool {
	whole := Code(err)
	code := strings.TrimPrefix(whole, "KMS.")
	if _, throttled := retry.DefaultThrottleErrorCodes[code]; throttled || code == "" || DeniedCode(whole) {
		return false
	}
	return !strings.HasPrefix(code, "Internal") && !strings.HasPrefix(code, "ServiceUnavailable") && code != "KmsThrottled"
}

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
	code, key := strings.CutPrefix(strings.TrimPrefix(code, "AWS.SimpleQueueService."), "KMS.")
	if key || strings.HasPrefix(strings.ToUpper(code), "KMS") { // the key is disabled, gone or not allowed
		return !strings.Contains(code, "Throttl")
	}
	switch strings.TrimSuffix(code, "Exception") {
	case "AccessDenied", "NotAuthorized", "OptInRequired", "AllAccessDisabled", // permissions
		"UnrecognizedClient", "InvalidClientTokenId", "InvalidAccessKeyId", "MissingAuthenticationToken", "ExpiredToken", // credentials
		"InvalidSignature", "IncompleteSignature", "SignatureDoesNotMatch",
		"ResourceNotFound", "NonExistentQueue", "QueueDoesNotExist", "InvalidAddress", "NoSuchBucket": // the thing itself
		return true
	}
	return false
}
