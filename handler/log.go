package handler

import (
	"context"
	"log/slog"
	"sync/atomic"

	"github.com/ingot-events/ingot/event"
)

// A log may hold an event's verdict, its reason and its key. Details quote values and names of
// members. They are only written into the note of the quarantined message.

// keyHashDigits is how many digits of a key's hash stand in place of the key.
const keyHashDigits = 16

// keyAttrs returns the attributes that name a key in a log. If a type hides values from the table's
// keys by hmac, it hides them from the log too. Then only the hash of the key is logged.
func keyAttrs(k event.Key, hidden bool) []slog.Attr {
	switch {
	case k.IsZero():
		return nil
	case hidden:
		return []slog.Attr{slog.String("keyHash", k.Hash()[:keyHashDigits])}
	}
	return []slog.Attr{slog.String("pk", k.PK), slog.String("sk", k.SK)}
}

// keyText names a key in an error or a flag, by the same rule as [keyAttrs].
func keyText(k event.Key, hidden bool) string {
	if hidden {
		return "with the key hash " + k.Hash()[:keyHashDigits]
	}
	return k.String()
}

// maxQuarantineLines bounds what one batch logs about quarantine.
const maxQuarantineLines = 100

// quarantineLog writes one batch's lines about quarantine, at most maxQuarantineLines. It is safe
// for concurrent use.
type quarantineLog struct {
	log   *slog.Logger // nil: no log
	lines atomic.Int64
}

func (q *quarantineLog) line(ctx context.Context, level slog.Level, text string, attrs ...slog.Attr) {
	if q.log != nil && q.lines.Add(1) <= maxQuarantineLines {
		q.log.LogAttrs(ctx, level, text, attrs...)
	}
}

// end logs how many lines were left out.
func (q *quarantineLog) end(ctx context.Context) {
	if more := q.lines.Load() - maxQuarantineLines; more > 0 {
		q.log.LogAttrs(ctx, slog.LevelWarn, "more lines about quarantine than one batch may write", slog.Int64("more", more))
	}
}
