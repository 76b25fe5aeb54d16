package console

import (
	"context"
	"errors"
	"net/http"
)

// read adds the routes that change nothing. Two of them use POST, because a message can be too long
// for an address, and because browsers remember addresses.
func (s *Server) read() {
	get(s, "GET /api/about", func(ctx context.Context) (any, error) {
		about, err := s.cfg.Source.About(ctx)
		if about != nil {
			about.Write = s.cfg.Write
			if !about.Write {
				about.Trouble = nil
			}
		}
		return about, err
	})
	get(s, "GET /api/flow", func(ctx context.Context) (any, error) { return s.cfg.Source.Flow(ctx) })
	get(s, "GET /api/quarantine", func(ctx context.Context) (any, error) { return s.cfg.Source.Quarantine(ctx) })
	ask(s, "POST /api/journey", func(ctx context.Context, q Question) (any, error) { return s.cfg.Source.Journey(ctx, q) })
	ask(s, "POST /api/totals", func(ctx context.Context, c Choice) (any, error) { return s.cfg.Source.Totals(ctx, c) })
	ask(s, "POST /api/letter", func(ctx context.Context, one named) (any, error) { return s.cfg.Source.Letter(ctx, one.ID) })
	if lab, ok := s.cfg.Source.(Laboratory); ok {
		ask(s, "POST /api/verify", func(ctx context.Context, _ struct{}) (any, error) { return lab.Verify(ctx) })
	}
	s.routes.HandleFunc("/api/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, "there is no "+r.Method+" "+r.URL.Path+" here; routes that change something need --write")
	})
}

// named is a request that names one thing.
type named struct {
	ID string `json:"id"`
}

// said is the answer to a request that did something.
type said struct {
	Said string `json:"said"`
}

// write adds the routes that change something. Without them a request gets 404.
func (s *Server) write() {
	ask(s, "POST /api/resend", func(ctx context.Context, one named) (any, error) {
		text, err := s.cfg.Source.Resend(ctx, one.ID)
		return said{text}, err
	})
	if lab, ok := s.cfg.Source.(Laboratory); ok {
		ask(s, "POST /api/trouble", func(ctx context.Context, one named) (any, error) {
			text, err := lab.Trouble(ctx, one.ID)
			return said{text}, err
		})
	}
}

// mistake is an error that the person made who asked. Any other error comes from the service that
// was asked.
type mistake struct{ text string }

func (m *mistake) Error() string { return m.text }

func get(s *Server, pattern string, do func(context.Context) (any, error)) {
	s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		body, err := do(r.Context())
		reply(w, body, err)
	})
}

func ask[In any](s *Server, pattern string, do func(context.Context, In) (any, error)) {
	s.routes.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		var in In
		if !decode(w, r, &in) {
			refuse(w, http.StatusBadRequest, "the body of the request is not the JSON that this route expects")
			return
		}
		body, err := do(r.Context(), in)
		reply(w, body, err)
	})
}

func reply(w http.ResponseWriter, body any, err error) {
	var wrong *mistake
	switch {
	case errors.As(err, &wrong):
		refuse(w, http.StatusUnprocessableEntity, err.Error())
	case err != nil:
		refuse(w, http.StatusBadGateway, err.Error())
	default:
		answer(w, http.StatusOK, body)
	}
}
