// Command ingest is the Lambda function that stores the events of an SQS queue.
//
// Only its environment configures it. See package ingot. If a variable is missing or wrong, it does
// not start. It says which variable that is, and what to set.
package main

import "github.com/ingot-events/ingot"

func main() { ingot.StartIngest(ingot.Files()) }
