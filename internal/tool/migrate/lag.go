package migrate

import (
	"context"
	"fmt"
	"slices"

	"github.com/ingot-events/ingot/internal/tool/pause"
	"github.com/ingot-events/ingot/migrate"
)

// CaptureFunction is the capture function of a stack.
type CaptureFunction struct {
	Client pause.Client
	Name   string
}

// Reads has a [*migrate.StopError] if the function does not read one of the streams.
func (d CaptureFunction) Reads(ctx context.Context, streams []string) error {
	list, err := pause.Read(ctx, d.Client, d.Name)
	for _, stream := range streams {
		i := slices.IndexFunc(list, func(m pause.Mapping) bool { return m.Source == stream })
		switch {
		case err != nil:
		case i < 0:
			err = &migrate.StopError{Why: fmt.Sprintf("function %s does not read the stream %s, which the table has now: deploy its stack "+
				"with that ARN", d.Name, stream)}
		case list[i].Off():
			err = &migrate.StopError{Why: fmt.Sprintf("the mapping of function %s to stream %s is %s%s: switch it on", d.Name, stream,
				list[i].State, list[i].Who())}
		}
	}
	return err
}

// Why says what Lambda says of the mapping of a stream, as the end of a sentence.
func (d CaptureFunction) Why(ctx context.Context, stream string) (why string) {
	list, err := pause.Read(ctx, d.Client, d.Name)
	if err != nil {
		return ""
	}
	for _, m := range list {
		if m.Source == stream {
			if why += ". Its mapping is " + m.State; m.Last != "" {
				why += fmt.Sprintf(", and Lambda says of its last batch %q", m.Last)
			}
		}
	}
	return why
}
