package main

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
)

func TestLocalJSON(t *testing.T) {
	commandtest.Documented(t, initJSON, initReport{})
}
