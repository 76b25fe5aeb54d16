package itemform_test

import (
	"testing"

	"github.com/ingot-events/ingot/internal/base/itemform"
	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestOwnAttributes(t *testing.T) {
	for name, want := range map[string]bool{
		"PK": true, "SK": true, "data": true, "revision": true, "GSI1PK": true, "GSI20SK": true, "i:revision": true, "i:": true,
		"status": false, "GSI0PK": false, "GSI21PK": false, "GSI01PK": false, "GSI+1PK": false, "GSIPK": false, "GSI1": false, "pk": false,
		"ii:x": false, "XPK": false,
	} {
		must.Equal(t, itemform.IsOwnAttribute(name), want, name)
	}
}

// TestNumberSize has what numbers were measured to take on the service; see [itemform.NumberSize].
func TestNumberSize(t *testing.T) {
	for text, want := range map[string]int{
		"0": 1, "-0": 1, "1": 2, "12": 2, "123": 3, "1234": 3, "12345678901234567890123456789012345678": 20, "0042": 2, "100": 2, "1010": 3,
		"0.0000001": 2, "1E125": 2, "1E-100": 2, "15": 2, "1.5": 3, "1.2": 3, "1.200": 3, "1.234": 4, "3.14159": 5, "123456": 4, "100.5": 4,
		"0.15": 2, "-42": 3,
		// These follow from the same rule.
		"-12.5": 4, "12e50": 2, "-1e-38": 3, "15e-1": 3, "0.15e1": 3, "0.00": 1, "1000.0001": 5,
	} {
		must.Equal(t, itemform.NumberSize(text), want, text)
	}
}

func TestWriteUnits(t *testing.T) {
	for size, units := range map[int]int{0: 1, 1: 1, 1024: 1, 1025: 2, 400 * 1024: 400} {
		if itemform.WriteUnits(size) != units {
			t.Errorf("%d bytes cost %d write units, want %d", size, itemform.WriteUnits(size), units)
		}
	}
}
