package esm

import (
	"encoding/json"
	"maps"
	"slices"
	"time"
)

// Checkpoint says how far a stream mapping has got. It is plain data. A test can store one as JSON
// and go back to it. In Lambda, this happens when a poller fails over to a stale checkpoint.
type Checkpoint struct {
	Shards map[string]ShardCheckpoint `json:"shards"`
}

// ShardCheckpoint says how far the mapping has got in one shard.
type ShardCheckpoint struct {
	After    string  `json:"after,omitempty"`    // sequence number of the last record that is done; empty if there is none yet
	Finished bool    `json:"finished,omitempty"` // the shard is closed, and every record is done
	Window   *Window `json:"window,omitempty"`   // the tumbling window that is open, if any
}

// Window is an open tumbling window of one shard.
type Window struct {
	Start time.Time       `json:"start"`
	State json.RawMessage `json:"state"` // as the function returned it last
	// TooLarge says that the last returned state was over 1 MB. State is the one before it, and the
	// window ends early.
	TooLarge bool `json:"tooLarge,omitempty"`
}

// Checkpoint returns a copy of the mapping's checkpoint.
func (s *Stream) Checkpoint() Checkpoint {
	c := Checkpoint{Shards: make(map[string]ShardCheckpoint, len(s.shards))}
	for id, sh := range s.shards {
		c.Shards[id] = sh.at.clone()
	}
	return c
}

// Restore makes the mapping continue from c. It drops the records that the mapping had read ahead.
// The mapping reads a shard that c does not name from its first record.
func (s *Stream) Restore(c Checkpoint) {
	s.shards = make(map[string]*shard, len(c.Shards))
	for id, at := range c.Shards {
		s.shards[id] = &shard{id: id, at: at.clone()}
	}
	s.order, s.described = slices.Sorted(maps.Keys(s.shards)), false
}

func (c ShardCheckpoint) clone() ShardCheckpoint {
	if c.Window != nil {
		w := *c.Window
		c.Window = &w
	}
	return c
}
