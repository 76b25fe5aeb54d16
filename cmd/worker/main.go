// Command worker is the Lambda function that does one part of `ingot verify --large`. It runs in a
// stack of its own: see template.yaml in this folder.
//
// Only its environment configures it. See package worker.
package main

import (
	"github.com/ingot-events/ingot"
	"github.com/ingot-events/ingot/worker"
)

func main() { worker.Start(ingot.Files()) }
