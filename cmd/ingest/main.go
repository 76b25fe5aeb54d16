// Command ingest is the Lambda function that stores the events of an SQS queue.
//
// It is configured by its environment alone; see package ingot. It does not start with a variable
// missing or wrong, and then says which, and what to set.
package main

import "github.com/ingot-events/ingot"

func main() { ingot.StartIngest(ingot.Files()) }
