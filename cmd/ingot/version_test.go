package main

import (
	"testing"

	"github.com/ingot-events/ingot/cmd/ingot/command/commandtest"
)

func TestVersionJSON(t *testing.T) {
	commandtest.Documented(t, versionJSON, build{})
}
