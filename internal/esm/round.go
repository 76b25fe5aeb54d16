package esm

import (
	"context"
	"encoding/json"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// prepare reads ahead in a shard, and reports whether there is a reason to call the function: a
// record, or a window to close.
func (s *Stream) prepare(ctx context.Context, sh *shard, p *Streamed) (due bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	trimmed, err := s.fill(ctx, sh)
	p.Trimmed += trimmed
	switch {
	case Busy(err): // the next round asks again
		return false, nil
	case err != nil:
		return false, err
	}
	sh.finish(p)
	return len(sh.ahead) > 0 || s.windowOver(sh), nil
}

// Round is one shard's part of a round. It makes one invocation.
type Round struct {
	stream *Stream
	shard  *shard
}

// Attempt returns how many invocations there have been at the shard's checkpoint, including this
// one. If it is above 1, the previous one failed, and Lambda would wait a little before this one.
func (r *Round) Attempt() int { return r.shard.attempts + 1 }

// Do calls the function and moves the shard's checkpoint according to the answer. It must be called
// exactly once. If Restore was called after Due, Do does not change the restored checkpoint.
func (r *Round) Do(ctx context.Context) Streamed {
	var p Streamed
	defer func() { r.shard.busy = false }()
	if r.stream.windowOver(r.shard) {
		r.stream.final(ctx, r.shard, &p)
		return p
	}
	r.stream.batch(ctx, r.shard, &p)
	// A window that is still open at the end of the shard gets its final invocation in the next
	// round.
	r.shard.finish(&p)
	return p
}

// finish marks a shard as finished if it is closed and everything in it is done.
func (sh *shard) finish(p *Streamed) {
	if sh.closed && len(sh.ahead) == 0 && sh.at.Window == nil {
		sh.at.Finished, sh.ended = true, true
		p.Finished++
	}
}

func (s *Stream) discard(sh *shard, n int, p *Streamed) {
	if s.cfg.OnDiscard != nil {
		s.cfg.OnDiscard(Discard{ShardID: sh.id, IDs: sequences(sh.ahead[:n])})
	}
	p.Discarded += n
	sh.advance(n)
}

// batch calls the function with the next records of the shard, and moves the checkpoint according
// to the answer.
func (s *Stream) batch(ctx context.Context, sh *shard, p *Streamed) {
	if s.cfg.Window > 0 && sh.at.Window == nil {
		sh.at.Window = &Window{Start: s.windowOf(sh.ahead[0]), State: json.RawMessage("{}")}
	}
	n := s.size(sh)
	inv := s.invocation(sh, sh.ahead[:n], false)
	p.Invocations++
	p.Records += n
	done, state, err := s.ask(ctx, inv)
	if done < n {
		p.Failed++
		if s.cfg.OnFailure != nil {
			s.cfg.OnFailure(inv, err)
		}
	}
	if err == nil && happens(s.cfg.Function.Faults.Forget, inv) {
		sh.rewind()
		return
	}
	if err != nil && s.cfg.Bisect && n > 1 {
		sh.split(n)
		sh.rewind()
		return
	}
	if err == nil {
		sh.at.Window.keep(state)
	}
	sh.advance(done)
	p.Done += done
	if done < n {
		s.failed(sh, n-done, p)
	}
}

// ask calls the function, and reads how many of the records are done, counted from the first. An
// error means that all of them failed.
func (s *Stream) ask(ctx context.Context, inv Invocation) (done int, state json.RawMessage, err error) {
	answer, err := s.cfg.Function.invoke(ctx, inv)
	if err != nil {
		return 0, nil, err
	}
	if s.cfg.Window > 0 {
		if state, err = windowState(answer); err != nil {
			return 0, nil, err
		}
	}
	if !s.cfg.ReportBatchItemFailures {
		return len(inv.IDs), state, nil
	}
	failed, err := failures(answer, inv.IDs)
	if err != nil {
		return 0, nil, err
	}
	// The lowest failed sequence number is the checkpoint. The function gets all later records
	// again, even those that succeeded.
	for done < len(inv.IDs) && !failed[done] {
		done++
	}
	return done, state, nil
}

// failed records a failed attempt at the first n records read ahead. It is undocumented whether
// progress within a batch starts the count of attempts again. Here it does.
func (s *Stream) failed(sh *shard, n int, p *Streamed) {
	sh.attempts++
	if s.cfg.MaxRetries > 0 && sh.attempts > s.cfg.MaxRetries {
		s.discard(sh, n, p)
		return
	}
	sh.rewind()
}

// size returns how many records the next batch has. All of them must be in the same window and in
// the same piece of a bisected batch, and fit into one event.
func (s *Stream) size(sh *shard) int {
	n := min(len(sh.ahead), s.cfg.BatchSize)
	if len(sh.pieces) > 0 {
		n = min(n, sh.pieces[0])
	}
	overhead := 0
	if w := sh.at.Window; w != nil {
		for i := range n {
			if s.windowOf(sh.ahead[i]).After(w.Start) {
				n = i
				break
			}
		}
		overhead = len(s.appendWindow(nil, sh, false))
	}
	records := make([][]byte, n)
	for i, c := range sh.ahead[:n] {
		records[i] = c.json
	}
	return fit(records, overhead)
}

func (s *Stream) invocation(sh *shard, batch []change, final bool) Invocation {
	records := make([][]byte, len(batch))
	for i, c := range batch {
		records[i] = c.json
	}
	payload := openEvent(records)
	if s.cfg.Window > 0 {
		payload = s.appendWindow(payload, sh, final)
	}
	return Invocation{Source: s.cfg.ARN, ShardID: sh.id, IDs: sequences(batch), Final: final, Payload: append(payload, '}')}
}

func sequences(batch []change) []string {
	ids := make([]string, len(batch))
	for i, c := range batch {
		ids[i] = c.sequence()
	}
	return ids
}

func (c change) created() time.Time { return aws.ToTime(c.record.Dynamodb.ApproximateCreationDateTime) }
