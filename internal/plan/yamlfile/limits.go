package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// maxFile is the longest text that is read, in bytes: CloudFormation accepts templates of 1 MB.
// maxDepth is how deeply brackets may nest: the YAML parser's time and memory grow with the square
// of the nesting.
const (
	maxFile  = 1 << 20
	maxDepth = 1000
)

// parse parses a text. It refuses a text that is too large for the parser. If the parser panics,
// which is not our code, parse returns an error.
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
	return parser.Parse(joined(lexer.Tokenize(string(text))), 0, options...)
}

// encoded refuses what is not text in UTF-8. A parser would read it as one odd word.
func encoded(text []byte) error {
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")):
		return errors.New("the file is UTF-16; save it as UTF-8")
	case !utf8.Valid(text):
		return errors.New("the file is not UTF-8; save it as UTF-8")
	}
	return nil
}

// deepest returns how deeply brackets nest in a text. It also counts the brackets in strings and
// comments, so a parser will not find a greater depth.
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
