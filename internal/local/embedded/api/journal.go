package api

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/aws/smithy-go"
)

// Journal keeps the content of an engine, so that it outlives the process. It stores values by
// space and key. An engine without a journal holds everything in memory only.
type Journal interface {
	// Keep takes the changes of one call. After a crash, either all of them are there or none. If
	// the changes of a call are there, so are those of all earlier calls. Keep does not wait,
	// because the engine holds a lock.
	Keep(changes []Change)
	// Safe waits until all changes that were given to Keep before are safe. It returns an error if
	// they may not be safe.
	Safe() error
	// Ready returns an error if the journal cannot make changes safe at present. The engine then
	// refuses calls before they change anything.
	Ready() error
	// Load passes each key and value of a space to give, in the byte order of the keys. Both are
	// valid until give returns.
	Load(space string, give func(key, value []byte) error) error
}

// Change sets or removes one value.
type Change struct {
	Space, Key, Value string
	Remove            bool // the key, or the whole space if Key is empty
}

// Log gathers the changes of one call for the journal. The lock of its owner guards it. A nil Log
// gathers nothing.
type Log struct {
	journal Journal
	changes []Change
}

// NewLog returns a log for the journal of an engine. It returns nil if there is none.
func (c *Core) NewLog() *Log {
	if c.Config.Journal == nil {
		return nil
	}
	return &Log{journal: c.Config.Journal}
}

// Put sets a value.
func (l *Log) Put(space, key, value string) {
	if l != nil {
		l.changes = append(l.changes, Change{Space: space, Key: key, Value: value})
	}
}

// Remove removes a key.
func (l *Log) Remove(space, key string) {
	if l != nil {
		l.changes = append(l.changes, Change{Space: space, Key: key, Remove: true})
	}
}

// Drop removes a whole space.
func (l *Log) Drop(space string) { l.Remove(space, "") }

// Flush hands the changes of a call to the journal. It must be called before the lock is released.
func (l *Log) Flush() {
	if l == nil || len(l.changes) == 0 {
		return
	}
	l.journal.Keep(l.changes)
	l.changes = nil
}

// unkept returns the error of a call whose changes the journal could not keep. The caller may send
// the call again.
func unkept(err error) error {
	return &smithy.GenericAPIError{Code: "InternalServerError", Message: err.Error(), Fault: smithy.FaultServer}
}

// Packer writes values one after the other, for a journal.
type Packer []byte

// Text writes a text of any length.
func (p *Packer) Text(s string) { *p = append(binary.AppendUvarint(*p, uint64(len(s))), s...) }

// Number writes a number.
func (p *Packer) Number(n uint64) { *p = binary.AppendUvarint(*p, n) }

// Time writes a time to the nanosecond. The zero time stays zero.
func (p *Packer) Time(t time.Time) {
	if t.IsZero() {
		p.Number(0)
		return
	}
	p.Number(uint64(t.UnixNano()))
}

// Unpacker reads what a [Packer] wrote. After an error it reads zero values.
type Unpacker struct {
	rest string
	err  error
}

// Unpack reads from s. The texts that it reads share the memory of s.
func Unpack(s string) *Unpacker { return &Unpacker{rest: s} }

var errShort = errors.New("it ends too early")

// Text reads a text.
func (u *Unpacker) Text() string {
	n := u.Number()
	if n > uint64(len(u.rest)) {
		u.Fail(errShort)
		return ""
	}
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}

// Number reads a number.
func (u *Unpacker) Number() uint64 {
	var n uint64
	for i := range min(len(u.rest), binary.MaxVarintLen64) {
		b := u.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			u.rest = u.rest[i+1:]
			return n
		}
	}
	u.Fail(errShort)
	return 0
}

// Time reads a time.
func (u *Unpacker) Time() time.Time {
	n := int64(u.Number())
	if n == 0 {
		return time.Time{}
	}
	return time.Unix(0, n).UTC()
}

// Byte reads one byte.
func (u *Unpacker) Byte() byte {
	if u.rest == "" {
		u.Fail(errShort)
		return 0
	}
	b := u.rest[0]
	u.rest = u.rest[1:]
	return b
}

// Peek returns the next byte without reading it, or 0 if there is none.
func (u *Unpacker) Peek() byte {
	if u.rest == "" {
		return 0
	}
	return u.rest[0]
}

// Failed reports whether there was an error.
func (u *Unpacker) Failed() bool { return u.err != nil }

// Fail ends the reading with an error. If there was an error before, Fail keeps that one.
func (u *Unpacker) Fail(err error) {
	if u.err == nil {
		u.err = err
	}
	u.rest = ""
}

// Err returns the error of the reading. It is also an error if something is left unread.
func (u *Unpacker) Err() error {
	if u.err == nil && u.rest != "" {
		return fmt.Errorf("%d bytes too many", len(u.rest))
	}
	return u.err
}

// JSON encodes v for a [Journal]. It panics if v cannot be encoded, which only a mistake in the
// caller's types can cause.
func JSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic("embedded: " + err.Error())
	}
	return string(text)
}

// Ordered returns a number as text. The texts have the same order as the numbers.
func Ordered(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }

// FromOrdered reads what [Ordered] returned.
func FromOrdered(s []byte) (uint64, error) {
	if len(s) != 8 {
		return 0, fmt.Errorf("a number has %d bytes, not 8", len(s))
	}
	return binary.BigEndian.Uint64(s), nil
}
