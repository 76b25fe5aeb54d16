package dynamo

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

var (
	updateTimeToLive   = operation("UpdateTimeToLive", "TableName TimeToLiveSpecification")
	describeTimeToLive = operation("DescribeTimeToLive", "TableName")
)

// tooOld is the age past which the service no longer removes an item: its time is more than five
// years ago.
const tooOld = 5 * 365 * 24 * time.Hour

// UpdateTimeToLive turns expiry on or off. Unlike the service, it takes effect at once and may be
// changed again within the hour.
func (c *Client) UpdateTimeToLive(ctx context.Context, in *dynamodb.UpdateTimeToLiveInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.UpdateTimeToLiveOutput, error) {
	return api.Call(ctx, c.ts.core, updateTimeToLive, in, c.ts.updateTTL)
}

// DescribeTimeToLive returns whether items expire, and by which attribute.
func (c *Client) DescribeTimeToLive(ctx context.Context, in *dynamodb.DescribeTimeToLiveInput,
	_ ...func(*dynamodb.Options)) (*dynamodb.DescribeTimeToLiveOutput, error) {
	return api.Call(ctx, c.ts.core, describeTimeToLive, in, c.ts.describeTTL)
}

func (ts *Service) updateTTL(in *dynamodb.UpdateTimeToLiveInput) (*dynamodb.UpdateTimeToLiveOutput, error) {
	spec := in.TimeToLiveSpecification
	if spec == nil || aws.ToString(spec.AttributeName) == "" || spec.Enabled == nil {
		return nil,
			api.Invalid("1 validation error detected: Value null at 'timeToLiveSpecification' failed to satisfy constraint: Member must " +
				"not be null")
	}
	if len(*spec.AttributeName) > 255 {
		return nil, api.Invalid("1 validation error detected: Value '%s' at 'timeToLiveSpecification.attributeName' failed to satisfy "+
			"constraint: Member must have length less than or equal to 255", *spec.AttributeName)
	}
	ts.mu.Lock()
	defer ts.unlock()
	t, err := ts.table(in.TableName)
	if err != nil {
		return nil, err
	}
	switch on := *spec.Enabled; {
	case t.ttl != "" && t.ttl != *spec.AttributeName:
		return nil, api.Invalid("TimeToLive is active on a different AttributeName: current AttributeName is %s", t.ttl)
	case on && t.ttl != "":
		return nil, api.Invalid("TimeToLive is already enabled")
	case !on && t.ttl == "":
		return nil, api.Invalid("TimeToLive is already disabled")
	case on:
		t.ttl = *spec.AttributeName
	default:
		t.ttl = ""
	}
	t.keepTable()
	return &dynamodb.UpdateTimeToLiveOutput{TimeToLiveSpecification: spec}, nil
}

func (ts *Service) describeTTL(in *dynamodb.DescribeTimeToLiveInput) (*dynamodb.DescribeTimeToLiveOutput, error) {
	ts.mu.RLock()
	defer ts.mu.RUnlock()
	t, err := ts.table(in.TableName)
	if err != nil {
		return nil, err
	}
	d := &types.TimeToLiveDescription{TimeToLiveStatus: types.TimeToLiveStatusDisabled}
	if t.ttl != "" {
		d.TimeToLiveStatus, d.AttributeName = types.TimeToLiveStatusEnabled, aws.String(t.ttl)
	}
	return &dynamodb.DescribeTimeToLiveOutput{TimeToLiveDescription: d}, nil
}

// SweepExpired removes the items whose time has come, from every table with a TTL attribute. It
// returns how many it removed. The service does this some time within days. The stream records of
// these removals carry the identity of the service. Until a sweep, an expired item is like any
// other item. Removal costs no write units.
func (ts *Service) SweepExpired() int { return ts.Sweep(math.MaxInt) }

// Sweep is like [Service.SweepExpired], but the parameter most limits how many items it removes
// from each table. So a large table can be swept in parts.
func (ts *Service) Sweep(most int) int {
	ts.mu.Lock()
	defer ts.unlock()
	removed := 0
	for _, name := range slices.Sorted(maps.Keys(ts.byName)) {
		removed += ts.byName[name].sweep(ts.core.Now(), most)
	}
	return removed
}

func (t *table) sweep(now time.Time, most int) int {
	if t.ttl == "" {
		return 0
	}
	var due []*value.Item
	t.rows.scan(0, 1, nil, func(it *value.Item) bool {
		if expired(it.Get(t.ttl), now) {
			due = append(due, it)
		}
		return len(due) < most
	})
	for _, it := range due {
		t.commit(it, nil, now, &timeToLive)
	}
	return len(due)
}

// timeToLive is the identity that removes expired items.
var timeToLive = identity{kind: "Service", principal: "dynamodb.amazonaws.com"}

// expired reports whether the time in v is over. v must be a number of epoch seconds. An item with
// anything else never expires.
func expired(v types.AttributeValue, now time.Time) bool {
	n, ok := v.(*types.AttributeValueMemberN)
	if !ok {
		return false
	}
	whole, _, _ := strings.Cut(n.Value, ".")
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return false
	}
	return seconds <= now.Unix() && seconds > now.Add(-tooOld).Unix()
}
