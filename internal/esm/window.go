package esm

import (
	"cmp"
	"context"
	"encoding/json"
	"time"
)

// windowGrace is the default of [StreamConfig.Grace].
const windowGrace = 2 * time.Minute

// windowOf returns the start of the window to which a record belongs by its time of creation.
func (s *Stream) windowOf(c change) time.Time {
	seconds := int64(s.cfg.Window / time.Second)
	at := c.created().Unix()
	return time.Unix(at-((at%seconds)+seconds)%seconds, 0).UTC()
}

// windowOver reports whether the shard's open window must be closed. That is so if its state has
// grown too large, or if the next record belongs to a later window. If there is no next record, it
// is so at the end of the shard, and from its grace after the end of the window. A record that is
// older than the open window counts in it.
func (s *Stream) windowOver(sh *shard) bool {
	w := sh.at.Window
	switch {
	case w == nil:
		return false
	case w.TooLarge:
		return true
	case len(sh.ahead) > 0:
		return s.windowOf(sh.ahead[0]).After(w.Start)
	}
	return sh.closed || !s.cfg.Function.now().Before(w.Start.Add(s.cfg.Window+cmp.Or(s.cfg.Grace, windowGrace)))
}

// final makes the last invocation of a window, without records. The shard does not go on until this
// invocation has succeeded or its retries are used up.
func (s *Stream) final(ctx context.Context, sh *shard, p *Streamed) {
	inv := s.invocation(sh, nil, true)
	p.Finals++
	_, _, err := s.ask(ctx, inv)
	if err == nil && happens(s.cfg.Function.Faults.Forget, inv) {
		return
	}
	if err == nil {
		sh.at.Window, sh.attempts = nil, 0
		return
	}
	p.Failed++
	sh.attempts++
	if s.cfg.OnFailure != nil {
		s.cfg.OnFailure(inv, err)
	}
	if s.cfg.MaxRetries > 0 && sh.attempts > s.cfg.MaxRetries {
		if s.cfg.OnDiscard != nil {
			s.cfg.OnDiscard(Discard{ShardID: sh.id})
		}
		sh.at.Window, sh.attempts = nil, 0
	}
}

// keep stores the state of a successful answer.
func (w *Window) keep(state json.RawMessage) {
	switch {
	case w == nil:
	case len(state) > maxState:
		w.TooLarge = true
	default:
		w.State = state
	}
}

// appendWindow appends the members that an event with a tumbling window has besides its records.
func (s *Stream) appendWindow(dst []byte, sh *shard, final bool) []byte {
	w := sh.at.Window
	dst = append(dst, `,"window":{"start":`...)
	dst = appendString(dst, w.Start.UTC().Format(time.RFC3339))
	dst = append(dst, `,"end":`...)
	dst = appendString(dst, w.Start.Add(s.cfg.Window).UTC().Format(time.RFC3339))
	dst = append(append(dst, `},"state":`...), w.State...)
	dst = appendString(append(dst, `,"shardId":`...), sh.id)
	dst = appendString(append(dst, `,"eventSourceARN":`...), s.cfg.ARN)
	dst = appendBool(append(dst, `,"isFinalInvokeForWindow":`...), final)
	return appendBool(append(dst, `,"isWindowTerminatedEarly":`...), final && w.TooLarge)
}
