package verify

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"

	"github.com/ingot-events/ingot/aggregate"
	"github.com/ingot-events/ingot/event"
	"github.com/ingot-events/ingot/pipeline"
)

// A run is a file of sums, sorted by the hash of the total's key. Its bytes are:
//
//	"INGOTRUN" 1                       what it is, and the version of the format
//	digest                             32 bytes: the job that it belongs to
//	segment, segments, number,         varints: which part of the tables it is from, which of the
//	bucket, buckets                    runs of that part it is, and which hashes it holds
//	1, record                          as often as there are records
//	0, records                         the end, and a varint: how many there were
//	SHA-256                            of all bytes before
//
// A record is: length and bytes of the key; side, a byte; n, a varint; fp and fpx; a byte that is 1
// if the values are not proven; the number of flags, and each of them; the number of values, and
// each of them: a byte that is 1 if it is set, and then the value. Numbers are decimal text. Texts
// are preceded by their length. A value whose operation is textual is written as its text.
const (
	runMagic   = "INGOTRUN"
	runVersion = 1
	// These limits keep a damaged file from taking much memory.
	maxText  = 1 << 20
	maxMany  = 1 << 16
	moreFlag = 1
	endOfRun = 0
)

// runID says which run it is.
type runID struct {
	Job              [sha256.Size]byte
	Segment, Of      int
	Number           int // of the runs of this segment, from 0
	Bucket, OfBucket int
}

// runWriter writes a run.
type runWriter struct {
	to      *bufio.Writer
	sum     hash.Hash
	scratch []byte
	records uint64
}

func newRunWriter(w io.Writer, id runID) *runWriter {
	r := &runWriter{sum: sha256.New()}
	r.to = bufio.NewWriterSize(io.MultiWriter(w, r.sum), 64<<10)
	b := append([]byte(runMagic), runVersion)
	b = append(b, id.Job[:]...)
	for _, n := range []int{id.Segment, id.Of, id.Number, id.Bucket, id.OfBucket} {
		b = binary.AppendUvarint(b, uint64(n))
	}
	_, _ = r.to.Write(b) // a bufio.Writer repeats its error at Flush
	return r
}

func (r *runWriter) write(rec *record) error {
	b := append(r.scratch[:0], moreFlag)
	b = appendText(b, rec.key)
	b = append(b, byte(rec.side))
	b = binary.AppendVarint(b, rec.n)
	b = appendNumber(appendNumber(b, rec.fp), rec.fpx)
	b = append(b, bit(rec.flagged))
	b = binary.AppendUvarint(b, uint64(len(rec.flags)))
	for _, flag := range rec.flags {
		b = appendText(b, flag)
	}
	b = binary.AppendUvarint(b, uint64(len(rec.values)))
	for _, v := range rec.values {
		b = append(b, bit(v.Set))
		if v.Text != "" {
			b = appendText(b, v.Text)
		} else {
			b = appendNumber(b, v.Number)
		}
	}
	r.scratch, r.records = b, r.records+1
	_, err := r.to.Write(b)
	return err
}

// end completes the run and returns its checksum.
func (r *runWriter) end() (string, error) {
	_, _ = r.to.Write(binary.AppendUvarint([]byte{endOfRun}, r.records))
	if err := r.to.Flush(); err != nil { // the checksum is of all that was flushed
		return "", err
	}
	checksum := r.sum.Sum(nil)
	_, _ = r.to.Write(checksum)
	return hex.EncodeToString(checksum), r.to.Flush()
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendText(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendNumber(b []byte, d event.Decimal) []byte { return appendText(b, d.String()) }

// errDamaged is why a run or a manifest cannot be read.
type errDamaged struct{ why string }

func (e *errDamaged) Error() string { return e.why }

// runReader reads a run. Its records are proven only after next has returned neither a record nor
// an error.
type runReader struct {
	from    *bufio.Reader
	sum     hash.Hash
	id      runID
	records uint64
	ended   string // its checksum, once it is read to its end
	last    *record
	buffer  []byte
}

// openRun reads the beginning of a run.
func openRun(from io.Reader) (*runReader, error) {
	r := &runReader{from: bufio.NewReaderSize(from, 64<<10), sum: sha256.New()}
	head := make([]byte, len(runMagic)+1)
	if err := r.full(head); err != nil || string(head[:len(runMagic)]) != runMagic {
		return nil, errors.Join(readFailure(err), &errDamaged{"it is not a run of sums that ingot verify has written"})
	}
	if version := head[len(runMagic)]; version != runVersion {
		return nil, &errDamaged{fmt.Sprintf("it has version %d, and this program reads version %d", version, runVersion)}
	}
	if err := r.full(r.id.Job[:]); err != nil {
		return nil, err
	}
	for _, n := range []*int{&r.id.Segment, &r.id.Of, &r.id.Number, &r.id.Bucket, &r.id.OfBucket} {
		v, err := r.uvarint(1 << 40)
		if err != nil {
			return nil, err
		}
		*n = int(v)
	}
	return r, nil
}

// readFailure returns the error of a disk or a network, which is not about the content.
func readFailure(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	if damaged := (*errDamaged)(nil); errors.As(err, &damaged) {
		return nil
	}
	return err
}

// next returns the next record, or nil at the end of an undamaged run.
func (r *runReader) next(p *pipeline.Pipeline) (*record, error) {
	more, err := r.byte(1)
	if err != nil {
		return nil, err
	}
	if more == endOfRun {
		return nil, r.end()
	}
	rec := &record{sum: &sum{}}
	if rec.key, err = r.text(); err != nil {
		return nil, err
	}
	of, err := parseKey(p, rec.key)
	if err != nil {
		return nil, &errDamaged{err.Error()}
	}
	if err := r.body(rec, of.def); err != nil {
		return nil, err
	}
	rec.hash = hashOf(rec.key)
	if r.last != nil && !r.last.before(rec) {
		return nil, &errDamaged{"its records are out of order"}
	}
	r.last = rec
	r.records++
	return rec, nil
}

func (r *runReader) body(rec *record, def *aggregate.Definition) error {
	which, err := r.byte(byte(stored))
	if err != nil {
		return err
	}
	rec.side = side(which)
	n, err := r.uvarint(math.MaxUint64)
	if err != nil {
		return err
	}
	rec.n = int64(n>>1) ^ -int64(n&1) // as binary.AppendVarint writes it
	if rec.fp, err = r.number(); err != nil {
		return err
	}
	if rec.fpx, err = r.number(); err != nil {
		return err
	}
	flagged, err := r.byte(1)
	if err != nil {
		return err
	}
	rec.flagged = flagged == 1
	flags, err := r.uvarint(maxMany)
	if err != nil {
		return err
	}
	for range flags {
		flag, err := r.text()
		if err != nil {
			return err
		}
		rec.flags = append(rec.flags, flag)
	}
	values, err := r.uvarint(maxMany)
	if err != nil {
		return err
	}
	if int(values) != columns(def) && values != 0 {
		return &errDamaged{fmt.Sprintf("%q has %d values, and its definition %d", rec.key, values, columns(def))}
	}
	for i := range values {
		set, err := r.byte(1)
		if err != nil {
			return err
		}
		if opOf(def, int(i)).Textual() {
			text, err := r.text()
			if err != nil {
				return err
			}
			a := aggregate.Amount{Set: set == 1}
			if a.Set {
				a.Text = text
			}
			rec.values = append(rec.values, a)
			continue
		}
		n, err := r.number()
		if err != nil {
			return err
		}
		rec.values = append(rec.values, aggregate.Amount{Set: set == 1, Number: n})
	}
	return nil
}

// end checks that the run is complete.
func (r *runReader) end() error {
	records, err := r.uvarint(1 << 62)
	if err != nil {
		return err
	}
	if records != r.records {
		return &errDamaged{fmt.Sprintf("it has %d records, and says that it has %d", r.records, records)}
	}
	want := r.sum.Sum(nil)
	has := make([]byte, len(want))
	if _, err := io.ReadFull(r.from, has); err != nil {
		return cut(err)
	}
	if !bytes.Equal(has, want) {
		return &errDamaged{"its checksum is wrong"}
	}
	if _, err := r.from.ReadByte(); !errors.Is(err, io.EOF) {
		return errors.Join(readFailure(err), &errDamaged{"there is more data after its end"})
	}
	r.ended = hex.EncodeToString(want)
	return nil
}

// cut explains an error of reading: it says what the error means for the run.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &errDamaged{"it is cut short"}
	}
	return err
}

func (r *runReader) full(b []byte) error {
	if _, err := io.ReadFull(r.from, b); err != nil {
		return cut(err)
	}
	r.sum.Write(b)
	return nil
}

// ReadByte implements [io.ByteReader].
func (r *runReader) ReadByte() (byte, error) {
	var b [1]byte
	err := r.full(b[:])
	return b[0], err
}

// byte reads a byte that is at most most.
func (r *runReader) byte(most byte) (byte, error) {
	b, err := r.ReadByte()
	if err == nil && b > most {
		err = &errDamaged{fmt.Sprintf("it has the byte %d where at most %d can be", b, most)}
	}
	return b, err
}

// uvarint reads a number that is at most most.
func (r *runReader) uvarint(most uint64) (uint64, error) {
	var n uint64
	for shift := 0; ; shift += 7 {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		if shift == 63 && b > 1 || shift > 0 && b == 0 {
			return 0, &errDamaged{"it has a number that is longer than it can be"}
		}
		if n |= uint64(b&0x7f) << shift; b < 0x80 {
			break
		}
	}
	if n > most {
		return 0, &errDamaged{fmt.Sprintf("it has the number %d where at most %d can be", n, most)}
	}
	return n, nil
}

func (r *runReader) text() (string, error) {
	n, err := r.uvarint(maxText)
	if err != nil {
		return "", err
	}
	if cap(r.buffer) < int(n) {
		r.buffer = make([]byte, n)
	}
	b := r.buffer[:n]
	err = r.full(b)
	return string(b), err
}

func (r *runReader) number() (event.Decimal, error) {
	text, err := r.text()
	if err != nil {
		return event.Decimal{}, err
	}
	n, err := event.ParseDecimal(text)
	if err != nil || n.String() != text {
		return event.Decimal{}, &errDamaged{fmt.Sprintf("%.40q is not a number as it is written here", text)}
	}
	return n, nil
}
