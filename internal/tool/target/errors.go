package target

import (
	"errors"
	"fmt"
	"strings"

	"github.com/aws/smithy-go"
)

// CredentialsError says that there are no credentials, or that they may not do what was asked.
type CredentialsError struct {
	what string
	err  error
}

func (e *CredentialsError) Error() string { return e.what }

func (e *CredentialsError) Unwrap() error { return e.err }

// Denied returns the error that says what credentials may not do. err is the cause.
func Denied(err error, format string, args ...any) *CredentialsError {
	return &CredentialsError{fmt.Sprintf(format, args...), err}
}

// UsageError says that the command line, a variable or samconfig.toml names something wrong.
type UsageError struct {
	what string
	// Undeployed says that samconfig.toml names a stack that has never been deployed: there is no
	// such stack, or its first deployment has made nothing.
	Undeployed bool
}

func (e *UsageError) Error() string { return e.what }

func usagef(format string, args ...any) *UsageError {
	return &UsageError{what: fmt.Sprintf(format, args...)}
}

// Refused reports whether an error of any service is about credentials or permissions.
func Refused(err error) bool {
	var own *CredentialsError
	var api smithy.APIError
	switch {
	case errors.As(err, &own):
		return true
	case !errors.As(err, &api):
		return false
	}
	switch strings.TrimSuffix(strings.TrimPrefix(api.ErrorCode(), "KMS."), "Exception") {
	case "AccessDenied", "NotAuthorized", "UnauthorizedOperation", "OptInRequired", "AllAccessDisabled",
		"UnrecognizedClient", "InvalidClientTokenId", "InvalidAccessKeyId", "MissingAuthenticationToken",
		"MissingAuthenticationTokenException",
		"ExpiredToken", "InvalidSignature", "IncompleteSignature", "SignatureDoesNotMatch":
		return true
	}
	return false
}

// Reason returns the message of a service's error, or else the last cause of an error.
func Reason(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) && api.ErrorMessage() != "" {
		return api.ErrorMessage()
	}
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err.Error()
		}
		err = inner
	}
}
