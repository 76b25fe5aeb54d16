// Command publish is the Lambda function that sends what happens to stored events to EventBridge,
// SNS or SQS. It runs in a stack of its own: see template.yaml in this folder. Here it has the
// files of examples/publish; a repository of your own embeds its own two files.
//
// Only its environment configures it. See package publish.
package main

import (
	"io/fs"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/publish"
)

func main() {
	files, err := fs.Sub(examples.Files, "publish")
	if err != nil {
		panic(err) // the name is a constant
	}
	publish.Start(files)
}
