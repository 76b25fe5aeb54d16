package integration

import (
	"fmt"
	"time"

	"github.com/ingot-events/ingot/pipeline"
)

const day = 24 * time.Hour

// shop returns the pipeline of these tests. It has immutable orders and refunds, and parcels of
// which the latest revision counts.
func shop() pipeline.Spec {
	return pipeline.Spec{
		Ingot: 1, Epoch: 1, Type: "{type}",
		Events: map[string]pipeline.EventSpec{
			"order": {ID: "{merchant}#{id}", At: "{at}", Key: pipeline.KeySpec{PK: "MERCHANT#{merchant}", SK: "ORDER#{id}"},
				Retain: 90 * day, Ignore: []string{"trace"},
				Indexes:    map[string]pipeline.IndexSpec{"GSI1": {PK: "CUSTOMER#{customer}", SK: "{@at | time}#{@id}"}},
				Attributes: map[string]string{"cents": "cents"}},
			"refund": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "REFUND#{id}", SK: "REFUND"}, Retain: 90 * day},
			"parcel": {ID: "{id}", At: "{at}", Key: pipeline.KeySpec{PK: "PARCEL#{id}", SK: "PARCEL"}, Mode: "latest",
				Revision: "rev number", Retain: 90 * day},
		},
		Aggregates: map[string]pipeline.AggregateSpec{
			"daily": {Since: 1, By: map[string]string{"merchant": "{merchant}"}, Window: day, From: map[string]pipeline.FromSpec{
				"order":  {Values: map[string]string{"orders": "count", "revenue": "sum cents", "largest": "max cents"}},
				"refund": {Values: map[string]string{"revenue": "sum -cents"}}}},
			"live": {Since: 1, OnExpire: "subtract",
				From: map[string]pipeline.FromSpec{"order": {Values: map[string]string{"orders": "count", "revenue": "sum cents"}}}},
			"parcels": {Since: 1, OnExpire: "subtract",
				From: map[string]pipeline.FromSpec{"parcel": {Values: map[string]string{"parcels": "count", "grams": "sum grams"}}}},
		},
	}
}

func order(merchant, id string, cents float64, at time.Time) string {
	return fmt.Sprintf(`{"type":"order","merchant":%q,"id":%q,"customer":"c%d","cents":%v,"at":%q}`, merchant, id, len(id)%3, cents,
		at.Format(time.RFC3339))
}

func refund(merchant, id string, cents float64, at time.Time) string {
	return fmt.Sprintf(`{"type":"refund","merchant":%q,"id":%q,"cents":%v,"at":%q}`, merchant, id, cents, at.Format(time.RFC3339))
}

func parcel(id string, rev, grams int, at time.Time) string {
	return fmt.Sprintf(`{"type":"parcel","id":%q,"rev":%d,"grams":%d,"at":%q}`, id, rev, grams, at.Format(time.RFC3339))
}
