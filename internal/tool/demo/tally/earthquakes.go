package tally

import (
	"encoding/json"
	"time"
)

// Earthquakes returns a [Tally] of GeoJSON features of the USGS: count and largest magnitude by
// network and day, and count by network.
func Earthquakes() *Tally { return newTally(earthquake, "network_recent") }

func earthquake(t *Tally, body []byte) error {
	var feature struct {
		Properties struct {
			Net  string
			Time int64
			Mag  *json.Number
		}
	}
	if err := json.Unmarshal(body, &feature); err != nil {
		return err
	}
	p := feature.Properties
	t.sum(Total{"network_recent", p.Net, "-"}, "count", one())
	if p.Mag == nil {
		return nil
	}
	magnitude, err := number(*p.Mag)
	if err != nil {
		return err
	}
	daily := Total{"network_day", p.Net, day(time.UnixMilli(p.Time))}
	t.sum(daily, "count", one())
	t.largest(daily, magnitude)
	return nil
}
