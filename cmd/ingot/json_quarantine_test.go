package main

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
)

func TestQuarantineJSON(t *testing.T) {
	commandtest.Documented(t, workedJSON, workedReport{})
	commandtest.Documented(t, listJSON, listReport{})
}
