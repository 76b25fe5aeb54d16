package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxFile is the longest text that is read, in bytes: CloudFormation accepts templates of 1 MB.
// maxDepth is how deeply brackets may nest: the YAML parser's time and memory grow with the square
// of the nesting.
const (
	maxFile  = 1 << 20
	maxDepth = 1000
)

// parse refuses what is too much for the parser. It returns a panic of the parser, which is not our
// code, as an error like any other.
func parse(text []byte, options ...parser.Option) (file *ast.File, err error) {
	if len(text) > maxFile {
		return nil, fmt.Errorf("the file has %d bytes, and at most %d are read", len(text), maxFile)
	}
	if err := encoded(text); err != nil {
		return nil, err
	}
	if n := deepest(text); n > maxDepth {
		return nil, fmt.Errorf("brackets nest %d deep, and at most %d are read", n, maxDepth)
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the parser gave up: %v", r)
		}
	}()
	return parser.ParseBytes(text, 0, options...)
}

// encoded refuses what is not text, or not in UTF-8. A parser would read it as one odd word.
func encoded(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16; save it as UTF-8")
	case !utf8.Valid(text):
		return errors.New("the file is not UTF-8; save it as UTF-8")
	}
	return nil
}

// deepest returns how deeply brackets nest in a text. It also counts those in strings and comments.
// So the result is at least the depth of the lists and mappings that a parser will find.
func deepest(text []byte) (most int) {
	depth := 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
			most = max(most, depth)
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return most
}
