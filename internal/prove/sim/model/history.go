package model

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// History is everything that was ever stored of one event.
type History struct {
	Live    *Image
	Facts   map[Fact]bool
	Newest  Fact // of a parcel or a state
	Inserts int
	Removed bool     // by a person, once
	Barred  bool     // by a person who erased the event, once
	Gone    []Object // what expired
	States  []State
}

// State is what a key holds from one record of the stream on; nil means nothing.
type State struct {
	Image *Image
	Since int
	at    time.Time
}

// During lists what the key has held since a record, each state once, in order.
func (h *History) During(since int) []*Image {
	list := []*Image{nil} // before its first record
	if h == nil {
		return list
	}
	for _, s := range h.States {
		if s.Since <= since {
			list = list[:0]
		}
		list = append(list, s.Image)
	}
	return list
}

func (m *Model) Remember(c *Change) {
	m.Records++
	if c.New != nil && c.New.Barred {
		h := m.History(c.New.Key())
		h.Live, h.Barred, h.Removed = nil, true, true
		h.States = append(h.States, State{c.New, m.Records, c.at})
		return
	}
	if c.New != nil {
		h := m.History(c.New.Key())
		if c.Old == nil {
			h.Inserts++
			m.Inserted++
		}
		h.Live, h.Facts[c.New.Fact] = c.New, true
		if len(h.Facts) == 1 || c.New.Newer(h.Newest) {
			h.Newest = c.New.Fact
		}
		h.States = append(h.States, State{c.New, m.Records, c.at})
		return
	}
	h := m.History(c.Old.Key())
	h.Live = nil
	h.States = append(h.States, State{nil, m.Records, c.at})
	if !c.Expired {
		h.Removed = true
		return
	}
	m.Expired++
	digest := m.StoredOf(c.Old.Fact)["digest"].Value
	o := c.Old.object(digest, false)
	if c.Old.Elsewhere != nil {
		m.Instead[o] = c.Old.object(digest, true)
		m.WithoutPayload[m.Instead[o]] = c.Old
	}
	h.Gone, m.Objects[o] = append(h.Gone, o), true
}

// StoredOf returns what the item of a fact must hold.
func (m *Model) StoredOf(f Fact) map[string]Typed {
	want := m.stored[f]
	if want == nil {
		want = f.stored()
		if m.Secret != "" {
			hash := hmac.New(sha256.New, []byte(m.Secret))
			hash.Write([]byte(f.Merchant))
			want["GSI3PK"], want["GSI3SK"] = Typed{"S", hex.EncodeToString(hash.Sum(nil))}, Typed{"S", f.Type}
		}
		if m.Patterns {
			_, new := f.DayKeys()
			want["GSI4PK"], want["GSI4SK"] = Typed{"S", new}, Typed{"S", want["at"].Value + "#" + f.ID}
			if f.Gift {
				want["GSI5PK"], want["GSI5SK"] = Typed{"S", fmt.Sprintf("GIFT#%d", shardOf(f.ID, 2))}, want["at"]
			}
		}
		m.stored[f] = want
	}
	return want
}
