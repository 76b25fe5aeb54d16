// Command streams is the Lambda function that keeps the totals from the events table's stream, and
// archives the items that time to live removes.
//
// Only its environment configures it. See package ingot. It does not start if a variable is missing
// or wrong. It also does not start if the aggregates table and its pipeline.yaml disagree about
// what a total means.
package main

import "github.com/ingot-events/ingot"

func main() { ingot.StartStreams(ingot.Files()) }
