package endpoint

import (
	"context"

	"github.com/ingot-events/ingot/internal/prove/peers/dynoxide"
)

// Dynoxide starts the pinned Dynoxide, which has only tables and streams. If it cannot be fetched,
// the error is a [*Missing].
func Dynoxide(ctx context.Context) (*Endpoint, error) {
	binary, err := dynoxide.Fetch(ctx)
	if err != nil {
		return nil, &Missing{What: "Dynoxide cannot be had", Command: "scripts/dynoxide.sh", Err: err}
	}
	p, err := dynoxide.Start(ctx, binary)
	if err != nil {
		return nil, err
	}
	return &Endpoint{URL: p.URL, Name: "dynoxide", stop: func(context.Context) error {
		p.Close()
		return nil
	}}, nil
}
