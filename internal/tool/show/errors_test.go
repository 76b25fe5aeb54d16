package show

import (
	"errors"
	"fmt"
	"testing"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestError(t *testing.T) {
	api := &smithy.GenericAPIError{Code: "AccessDeniedException", Message: "jo may not"}
	refused := &smithy.OperationError{ServiceID: "SQS", OperationName: "SendMessage",
		Err: fmt.Errorf("https response error StatusCode: 403: %w", api)}
	lost := &smithy.OperationError{ServiceID: "SQS", OperationName: "SendMessage", Err: errors.New("connection refused")}
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "plain"},
		{fmt.Errorf("sending: %w", refused), "sending: SQS SendMessage: jo may not"},
		{errors.Join(fmt.Errorf("a: %w", refused), fmt.Errorf("b: %w", refused)),
			"a: SQS SendMessage: jo may not\nb: SQS SendMessage: jo may not"},
		{fmt.Errorf("sending: %w", lost), "sending: " + lost.Error()},
	} {
		must.Equal(t, Error(c.err), c.want)
	}
}
