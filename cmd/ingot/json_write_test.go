package main

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
)

func TestWriteJSON(t *testing.T) {
	commandtest.Documented(t, sendJSON, sentReport{})
}
