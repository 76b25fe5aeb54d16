package keys

import (
	"errors"

	"github.com/ingot-events/ingot/event"
)

// Make returns what the variable p makes of raw, as it stands in a key: it applies the functions
// from Funcs[from] on, and then [Escape]. raw is a value as the payload has it. The error says what
// is wrong with raw, in one clause.
func (p *Part) Make(raw string, from int, secret []byte) (string, error) {
	s := &Source{Secret: secret}
	dst := []byte(raw)
	var err error
	for i := from; i < len(p.apply); i++ {
		if dst, err = p.apply[i].run(dst, 0, s); err != nil {
			var refusal *event.Refusal
			if errors.As(err, &refusal) {
				return "", errors.New(refusal.Detail)
			}
			return "", err
		}
	}
	if len(dst) == 0 {
		return "", errors.New("the value is empty")
	}
	return string(escapeFrom(dst, 0)), nil
}
