package keys

import (
	"testing"
	"time"
)

// The zones that RFC 2822 names have its offsets, wherever this machine is.
func TestZonesOfMail(t *testing.T) {
	for zone, hours := range map[string]int{"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
		"GMT": 0, "UT": 0, "UTC": 0} {
		at, err := parseMailTime([]byte("Wed, 20 Jul 2016 20:44:36 " + zone))
		if want := time.Date(2016, 7, 20, 20-hours, 44, 36, 0, time.UTC); err != nil || !at.Equal(want) {
			t.Errorf("%s: %s, %v, want %s", zone, at, err, want)
		}
	}
	if at, err := parseMailTime([]byte("Wed, 20 Jul 2016 20:44:36 CET")); err == nil {
		t.Errorf("CET is no zone of RFC 2822, and is read as %s", at)
	}
}
