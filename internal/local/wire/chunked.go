package wire

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// errChunks says that a body ends too early, or is not in chunks.
var errChunks = errors.New("the body is not in the encoding aws-chunked, although its headers say so")

// chunked reads the encoding aws-chunked. An SDK uses it for an object whose checksum comes after
// the content. Before each chunk stands a line with its length in hexadecimal. The last chunk has
// the length 0. Trailers follow it, one on each line.
type chunked struct {
	from     *bufio.Reader
	left     int64       // of the chunk that is being read
	trailers http.Header // those that have been read
	err      error
}

func newChunked(from io.Reader) *chunked {
	return &chunked{from: bufio.NewReader(from), trailers: http.Header{}}
}

func (c *chunked) Read(p []byte) (int, error) {
	for c.left == 0 && c.err == nil {
		c.next()
	}
	if c.err != nil {
		return 0, c.err
	}
	n, err := c.from.Read(p[:min(int64(len(p)), c.left)])
	if c.left -= int64(n); c.left == 0 && err == nil {
		c.line() // the line end after the chunk
	}
	if err != nil {
		c.err = broken(err)
	}
	return n, c.err
}

// next reads the line before a chunk.
func (c *chunked) next() {
	length, _, _ := strings.Cut(c.line(), ";") // a signature may follow
	if c.err != nil {
		return
	}
	n, err := strconv.ParseInt(length, 16, 64)
	switch {
	case err != nil || n < 0:
		c.err = fmt.Errorf("%w: %q is not the length of a chunk", errChunks, length)
	case n == 0:
		c.trail()
	default:
		c.left = n
	}
}

// trail reads the trailers, which end with an empty line or with the body.
func (c *chunked) trail() {
	for c.err == nil {
		line, err := c.from.ReadString('\n')
		name, value, is := strings.Cut(line, ":")
		switch {
		case is:
			c.trailers.Set(strings.TrimSpace(name), strings.TrimSpace(value))
		case strings.TrimSpace(line) != "":
			c.err = fmt.Errorf("%w: %q is not a trailer", errChunks, line)
		default:
			c.err = io.EOF
		}
		if err != nil && c.err == nil {
			c.err = err
		}
	}
}

func (c *chunked) line() string {
	line, err := c.from.ReadString('\n')
	if err != nil {
		c.err = broken(err)
	}
	return strings.TrimSpace(line)
}

func broken(err error) error {
	if err == io.EOF {
		return fmt.Errorf("%w: it ends too early", errChunks)
	}
	return err
}
