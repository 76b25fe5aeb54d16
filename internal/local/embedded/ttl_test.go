package embedded_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestSweep(t *testing.T) {
	w := newWorld(t)
	now := w.clock.at.Unix()
	at := func(d time.Duration) string { return strconv.FormatInt(now+int64(d.Seconds()), 10) }
	w.put(item("due", "1", attrs{"expiresAt": n(at(-time.Second))}))
	w.put(item("now", "1", attrs{"expiresAt": n(at(0))}))
	w.put(item("future", "1", attrs{"expiresAt": n(at(time.Second))}))
	w.put(item("ancient", "1", attrs{"expiresAt": n(at(-5 * 366 * 24 * time.Hour))}))
	w.put(item("text", "1", attrs{"expiresAt": s(at(-time.Second))}))
	w.put(item("none", "1", nil))
	before := w.e.Usage()
	must.Equal(t, w.e.Sweep(1), 1)
	must.Equal(t, w.e.SweepExpired(), 1)
	must.Equal(t, w.e.Usage().Sub(before).WriteUnits(), 0)
	for pk, there := range map[string]bool{"due": false, "now": false, "future": true, "ancient": true, "text": true, "none": true} {
		if (w.get(pk, "1") != nil) != there {
			t.Errorf("item %s there: %v, want %v", pk, !there, there)
		}
	}
}

func TestTimeToLiveMistakes(t *testing.T) {
	w := newWorld(t)
	set := func(on bool, attribute string) error {
		_, err := w.db.UpdateTimeToLive(background, &dynamodb.UpdateTimeToLiveInput{TableName: aws.String("events"),
			TimeToLiveSpecification: &types.TimeToLiveSpecification{Enabled: &on, AttributeName: &attribute}})
		return err
	}
	expectInvalid(t, set(true, "expiresAt"), "TimeToLive is already enabled") // newWorld has done so
	for _, on := range []bool{true, false} {
		expectInvalid(t, set(on, "other"), "TimeToLive is active on a different AttributeName: current AttributeName is expiresAt")
	}
	expectInvalid(t, set(false, strings.Repeat("x", 256)), "Member must have length less than or equal to 255")
	held(t, set(false, "expiresAt"))
	expectInvalid(t, set(false, "expiresAt"), "TimeToLive is already disabled")
}
