package embedded

import (
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// insert is the one PartiQL statement the engine knows: INSERT INTO "table" VALUE {'PK': ?, 'SK': ?}.
type insert struct {
	table string
	names []string // one parameter each, in order
}

// malformed is a statement that is not PartiQL, as against PartiQL that the engine does not know.
type malformed struct{ what string }

func (m *malformed) Error() string {
	return "Statement wasn't well formed, can't be processed: " + m.what
}

func parseInsert(api, src string) (*insert, error) {
	s := &statement{rest: src}
	if !s.keyword("INSERT") {
		for _, known := range []string{"SELECT", "UPDATE", "DELETE", "EXISTS"} {
			if s.keyword(known) {
				return nil, unsupported(api, "PartiQL "+known)
			}
		}
		return nil, &malformed{"Expected an INSERT statement"}
	}
	if !s.keyword("INTO") {
		return nil, &malformed{"Expected INTO after INSERT"}
	}
	table, ok := s.name()
	if !ok {
		return nil, &malformed{"Expected a table name"}
	}
	if !s.keyword("VALUE") || !s.punct('{') {
		return nil, &malformed{"Expected VALUE {"}
	}
	in := &insert{table: table}
	for {
		name, ok := s.quoted('\'')
		if !ok || !s.punct(':') {
			return nil, &malformed{"Expected 'name': in VALUE"}
		}
		if contains(in.names, name) {
			return nil, &malformed{"Duplicate attribute name: " + name}
		}
		in.names = append(in.names, name)
		if !s.punct('?') {
			return nil, unsupported(api, "a PartiQL value other than a ? parameter")
		}
		if s.punct('}') {
			break
		}
		if !s.punct(',') {
			return nil, &malformed{"Expected , or } in VALUE"}
		}
	}
	s.space()
	if s.rest != "" {
		return nil, unsupported(api, "PartiQL after VALUE {…}: "+s.rest)
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

// quoted reads 'text' or "text"; a doubled quote stands for one.
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

// name reads a table name, quoted or bare.
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

func (in *insert) item(parameters []types.AttributeValue) (map[string]types.AttributeValue, error) {
	if len(parameters) != len(in.names) {
		return nil, invalid("Number of parameters in request and statement don't match.")
	}
	m := make(map[string]types.AttributeValue, len(in.names))
	for i, name := range in.names {
		m[name] = parameters[i]
	}
	return m, nil
}
