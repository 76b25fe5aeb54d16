// Command streams is the Lambda function that keeps the totals from the events table's stream, and archives
// the items that time to live removes.
//
// It is configured by its environment alone; see package ingot. It does not start with a variable
// missing or wrong, nor on an aggregates table whose totals mean something else than its pipeline.yaml.
package main

import "github.com/ingot-events/ingot"

func main() { ingot.StartStreams(ingot.Files()) }
