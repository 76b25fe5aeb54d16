// Command migrate is the Lambda function that copies rows as they change, while a live table moves.
// It runs as long as the migration does, in a stack of its own: see template.yaml in this folder.
// Here it has the files of examples/migrate; a repository of your own embeds its own two files.
//
// Only its environment configures it. See package capture.
package main

import (
	"io/fs"

	"github.com/ingot-events/ingot/examples"
	"github.com/ingot-events/ingot/migrate/capture"
)

func main() {
	files, err := fs.Sub(examples.Files, "migrate")
	if err != nil {
		panic(err) // the name is a constant
	}
	capture.Start(files)
}
