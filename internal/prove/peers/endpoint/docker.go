package endpoint

import (
	"context"
	"errors"
	"fmt"
)

var errNoImage = errors.New("no such image")

// Docker returns nil if containers of an image can run here. Otherwise it returns a [*Missing] with
// the command that leaves the image on an engine. It pulls nothing.
func Docker(ctx context.Context, image, command string) error {
	engine, err := connect(ctx, engineTime)
	if err != nil {
		return &Missing{What: "no Docker engine answers", Command: command, Err: err}
	}
	defer engine.close()
	inspecting, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	present, err := engine.present(inspecting, image)
	if err == nil && !present {
		err = errNoImage
	}
	if err != nil {
		return &Missing{What: fmt.Sprintf("the image %s is not on this Docker engine", image), Command: command, Err: err}
	}
	return nil
}
