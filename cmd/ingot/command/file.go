package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/base/excerpt"
	"github.com/ingot-events/ingot/internal/tool/target"
	"github.com/ingot-events/ingot/store"
	"github.com/ingot-events/ingot/tables"
)

// ErrNoFile says that the table does not hold the pipeline.yaml that is deployed.
var ErrNoFile = errors.New("it does not say which pipeline.yaml is deployed")

// DeployedFile returns the pipeline.yaml that the streams function of a stack had when it last
// started. The error is [ErrNoFile] if it has stored none.
func DeployedFile(ctx context.Context, t *target.Target) (*tables.File, error) {
	f, err := store.DeployedFile(ctx, t.DynamoDB(), t.AggregatesTable)
	var api smithy.APIError
	switch {
	case err == nil && f == nil:
		return nil, fmt.Errorf("table %s: %w; %s", t.AggregatesTable, ErrNoFile, t.Stores())
	case !errors.As(err, &api): // it is nil, or says enough
		return f, err
	case target.Refused(err):
		return nil, target.Denied(err, "the credentials may not read table %s: %s", t.AggregatesTable, target.Reason(err))
	case api.ErrorCode() == "ResourceNotFoundException":
		return nil, fmt.Errorf("there is no table %s, which should hold the totals: "+
			"either the names are wrong, or somebody has deleted it; then go on as %s says",
			t.AggregatesTable, excerpt.Page("repair.md#a-lost-aggregates-table"))
	}
	return nil, fmt.Errorf("reading which pipeline.yaml is deployed from table %s: %s", t.AggregatesTable, target.Reason(err))
}
