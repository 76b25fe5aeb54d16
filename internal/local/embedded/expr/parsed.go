package expr

import "sync"

// Cache remembers parsed expressions by their text, because programs send the same few texts over
// and over. A program that writes values into its expressions would fill the cache, so a full cache
// is emptied.
type Cache struct {
	mu      sync.RWMutex
	entries map[parsedKey]any
}

const parsedLimit = 4096

type parsedKey struct{ api, kind, text string }

// NewCache returns an empty cache.
func NewCache() *Cache { return &Cache{entries: map[parsedKey]any{}} }

func remember[T any](c *Cache, k parsedKey, parse func() (T, error)) (T, error) {
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

// Condition parses a condition. It returns nil if text is nil.
func (p *Cache) Condition(api, kind string, text *string) (*Condition, error) {
	if text == nil {
		return nil, nil
	}
	return remember(p, parsedKey{api, kind, *text}, func() (*Condition, error) { return parseCondition(api, kind, *text) })
}

// Update parses an update. It returns nil if text is nil.
func (p *Cache) Update(api string, text *string) (*Update, error) {
	if text == nil {
		return nil, nil
	}
	return remember(p, parsedKey{api, "UpdateExpression", *text}, func() (*Update, error) { return parseUpdate(api, *text) })
}

// Projection parses a projection. It returns nil if text is nil.
func (p *Cache) Projection(api string, text *string) (*Projection, error) {
	if text == nil {
		return nil, nil
	}
	return remember(p, parsedKey{api, "ProjectionExpression", *text}, func() (*Projection, error) { return parseProjection(api, *text) })
}

// Statement parses a PartiQL statement.
func (p *Cache) Statement(api, text string) (Statement, error) {
	return remember(p, parsedKey{api, "PartiQL", text}, func() (Statement, error) { return parseStatement(api, text) })
}

// Use returns the placeholders of an expression, or nil for a nil expression.
func (c *Condition) Use() *Uses {
	if c == nil {
		return nil
	}
	return &c.uses
}

// Use returns the placeholders of an expression, or nil for a nil expression.
func (u *Update) Use() *Uses {
	if u == nil {
		return nil
	}
	return &u.uses
}

// Use returns the placeholders of an expression, or nil for a nil expression.
func (p *Projection) Use() *Uses {
	if p == nil {
		return nil
	}
	return &p.uses
}
