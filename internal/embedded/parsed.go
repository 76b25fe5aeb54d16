package embedded

import (
	"errors"
	"sync"

	"github.com/aws/smithy-go"
)

// parsed remembers expressions by their text: programs send the same few texts over and over. A program
// that writes values into its expressions would fill it, so it is emptied when it is full.
type parsed struct{ cache *textCache }

const parsedLimit = 4096

type textCache struct {
	mu      sync.RWMutex
	entries map[parsedKey]any
}

type parsedKey struct{ api, kind, text string }

func newParsed() parsed {
	return parsed{&textCache{entries: map[parsedKey]any{}}}
}

func remember[T any](c *textCache, k parsedKey, parse func() (T, error)) (T, error) {
	c.mu.RLock()
	known, ok := c.entries[k]
	c.mu.RUnlock()
	if ok {
		return known.(T), nil
	}
	v, err := parse()
	if err != nil {
		return v, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.entries) >= parsedLimit {
		clear(c.entries)
	}
	c.entries[k] = v
	return v, nil
}

// condition returns nil for an expression that is not given.
func (p parsed) condition(api, kind string, text *string) (*condition, error) {
	if text == nil {
		return nil, nil
	}
	return remember(p.cache, parsedKey{api, kind, *text}, func() (*condition, error) { return parseCondition(api, kind, *text) })
}

func (p parsed) update(api string, text *string) (*update, error) {
	if text == nil {
		return nil, nil
	}
	return remember(p.cache, parsedKey{api, "UpdateExpression", *text}, func() (*update, error) { return parseUpdate(api, *text) })
}

func (p parsed) projection(api string, text *string) (*projection, error) {
	if text == nil {
		return nil, nil
	}
	return remember(p.cache, parsedKey{api, "ProjectionExpression", *text}, func() (*projection, error) { return parseProjection(api, *text) })
}

func (c *condition) use() *uses {
	if c == nil {
		return nil
	}
	return &c.uses
}

func (u *update) use() *uses {
	if u == nil {
		return nil
	}
	return &u.uses
}

func (p *projection) use() *uses {
	if p == nil {
		return nil
	}
	return &p.uses
}

// errorText is the text of a service error without its code.
func errorText(err error) string {
	var api smithy.APIError
	if errors.As(err, &api) {
		return api.ErrorMessage()
	}
	return err.Error()
}
