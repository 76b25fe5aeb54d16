package expr

import (
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Insert is INSERT INTO "table" VALUE {'PK': ?, 'SK': ?}.
type Insert struct {
	Table string
	names []string // one parameter for each, in order
}

// Malformed is the error for a statement that is not PartiQL. PartiQL that the engine does not
// implement gets another error.
type Malformed struct{ what string }

// Error returns the text with which the service refuses the statement.
func (m *Malformed) Error() string {
	return "Statement wasn't well formed, can't be processed: " + m.what
}

// Statement is one of the two kinds of PartiQL statement that the engine knows. The other field is
// nil.
type Statement struct {
	Insert *Insert
	Update *UpdateStatement
}

func parseStatement(call, src string) (p Statement, err error) {
	s := &statement{rest: src}
	switch {
	case s.keyword("INSERT"):
		p.Insert, err = parseInsert(call, s)
		return p, err
	case s.keyword("UPDATE"):
		p.Update, err = parseUpdateStatement(call, s)
		return p, err
	}
	for _, known := range []string{"SELECT", "DELETE", "EXISTS"} {
		if s.keyword(known) {
			return p, api.Unsupported(call, "PartiQL "+known)
		}
	}
	return p, &Malformed{"Expected an INSERT or UPDATE statement"}
}

// parseInsert reads what follows the word INSERT.
func parseInsert(call string, s *statement) (*Insert, error) {
	if !s.keyword("INTO") {
		return nil, &Malformed{"Expected INTO after INSERT"}
	}
	table, ok := s.name()
	if !ok {
		return nil, &Malformed{"Expected a table name"}
	}
	if !s.keyword("VALUE") || !s.punct('{') {
		return nil, &Malformed{"Expected VALUE {"}
	}
	in := &Insert{Table: table}
	for {
		name, ok := s.quoted('\'')
		if !ok || !s.punct(':') {
			return nil, &Malformed{"Expected 'name': in VALUE"}
		}
		if slices.Contains(in.names, name) {
			return nil, &Malformed{"Duplicate attribute name: " + name}
		}
		in.names = append(in.names, name)
		if !s.punct('?') {
			return nil, api.Unsupported(call, "a PartiQL value other than a ? parameter")
		}
		if s.punct('}') {
			break
		}
		if !s.punct(',') {
			return nil, &Malformed{"Expected , or } in VALUE"}
		}
	}
	s.space()
	if s.rest != "" {
		return nil, api.Unsupported(call, "PartiQL after VALUE {…}: "+s.rest)
	}
	return in, nil
}

// statement reads PartiQL from the left.
type statement struct{ rest string }

func (s *statement) space() { s.rest = strings.TrimLeft(s.rest, " \t\r\n") }

func (s *statement) keyword(word string) bool {
	s.space()
	if len(s.rest) < len(word) || !strings.EqualFold(s.rest[:len(word)], word) {
		return false
	}
	if len(s.rest) > len(word) && isWordByte(s.rest[len(word)]) {
		return false
	}
	s.rest = s.rest[len(word):]
	return true
}

func (s *statement) punct(c byte) bool {
	s.space()
	if s.rest == "" || s.rest[0] != c {
		return false
	}
	s.rest = s.rest[1:]
	return true
}

// quoted reads 'text' or "text". A doubled quote stands for one quote.
func (s *statement) quoted(quote byte) (string, bool) {
	if !s.punct(quote) {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(s.rest); i++ {
		if s.rest[i] != quote {
			b.WriteByte(s.rest[i])
			continue
		}
		if i+1 < len(s.rest) && s.rest[i+1] == quote {
			b.WriteByte(quote)
			i++
			continue
		}
		s.rest = s.rest[i+1:]
		return b.String(), b.Len() > 0
	}
	return "", false
}

// name reads a table name, with or without quotes.
func (s *statement) name() (string, bool) {
	s.space()
	if s.rest != "" && s.rest[0] == '"' {
		return s.quoted('"')
	}
	i := 0
	for i < len(s.rest) && isWordByte(s.rest[i]) {
		i++
	}
	name := s.rest[:i]
	s.rest = s.rest[i:]
	return name, name != ""
}

// Item returns the attributes that the statement stores with these parameters.
func (in *Insert) Item(parameters []types.AttributeValue) (map[string]types.AttributeValue, error) {
	if len(parameters) != len(in.names) {
		return nil, api.Invalid("Number of parameters in request and statement don't match.")
	}
	m := make(map[string]types.AttributeValue, len(in.names))
	for i, name := range in.names {
		m[name] = parameters[i]
	}
	return m, nil
}
