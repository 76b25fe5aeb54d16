package itemform_test

import (
	"testing"

	"github.com/ingot-events/ingot/internal/itemform"
)

func TestOwnAttributes(t *testing.T) {
	for name, want := range map[string]bool{
		"PK": true, "SK": true, "data": true, "revision": true, "GSI1PK": true, "GSI20SK": true, "i:revision": true, "i:": true,
		"status": false, "GSI0PK": false, "GSI21PK": false, "GSI01PK": false, "GSI+1PK": false, "GSIPK": false, "GSI1": false, "pk": false, "ii:x": false, "XPK": false,
	} {
		if got := itemform.IsOwnAttribute(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWriteUnits(t *testing.T) {
	for size, units := range map[int]int{0: 1, 1: 1, 1024: 1, 1025: 2, 400 * 1024: 400} {
		if itemform.WriteUnits(size) != units {
			t.Errorf("%d bytes cost %d write units, want %d", size, itemform.WriteUnits(size), units)
		}
	}
}
