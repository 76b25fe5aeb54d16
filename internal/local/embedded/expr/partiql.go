package expr

import (
	"regexp"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
	"github.com/ingot-events/ingot/internal/local/embedded/value"
)

// Insert is INSERT INTO "table" VALUE {'PK': ?, 'SK': 'x'}.
type Insert struct {
	Table string
	names []string
	slots slots // one for each name
}

// slots are the values of a statement, in the order of its text. A ? is nil, and its value is the
// next parameter.
type slots []types.AttributeValue

// fill returns the values with these parameters. More parameters than the text has are not looked
// at.
func (s slots) fill(parameters []types.AttributeValue) ([]types.AttributeValue, error) {
	out := slices.Clone(s)
	rest := parameters
	for i, v := range out {
		switch {
		case v != nil:
		case len(rest) == 0:
			return nil, api.Invalid("Number of parameters in request and statement don't match.")
		default:
			out[i], rest = rest[0], rest[1:]
		}
		if err := value.Check(out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
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
	for _, known := range []string{"SELECT", "DELETE", "EXISTS", "FROM"} {
		if s.keyword(known) {
			return p, api.Unsupported(call, "PartiQL "+known)
		}
	}
	return p, &Malformed{"Expected an INSERT or UPDATE statement"}
}

// parseInsert reads what follows the word INSERT.
func parseInsert(call string, s *statement) (*Insert, error) {
	if !s.keyword("INTO") {
		return nil, s.expected(call, "INTO after INSERT")
	}
	table, ok := s.name()
	if !ok {
		return nil, s.expected(call, "a table name")
	}
	if !s.keyword("VALUE") || !s.punct('{') {
		return nil, s.expected(call, "VALUE {")
	}
	in := &Insert{Table: table}
	for {
		name, ok := s.quoted('\'')
		if !ok || !s.punct(':') {
			return nil, s.expected(call, "'name': in VALUE")
		}
		if slices.Contains(in.names, name) {
			return nil, &Malformed{"Duplicate attribute name: " + name}
		}
		in.names = append(in.names, name)
		if is, err := s.value(call, &in.slots); !is {
			if err == nil {
				err = s.expected(call, "a value after '"+name+"':")
			}
			return nil, err
		}
		if s.punct('}') {
			break
		}
		if !s.punct(',') {
			return nil, s.expected(call, ", or } in VALUE")
		}
	}
	return in, s.end(call)
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

// quoted reads a name, which must not be empty: 'name' or "name".
func (s *statement) quoted(quote byte) (string, bool) {
	name, ok := s.text(quote)
	return name, ok && name != ""
}

// text reads 'text' or "text". A doubled quote stands for one quote.
func (s *statement) text(quote byte) (string, bool) {
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
		return b.String(), true
	}
	return "", false
}

// end returns an error if there is more text.
func (s *statement) end(call string) error {
	if s.space(); s.rest != "" {
		return s.expected(call, "the end of the statement, not "+s.rest)
	}
	return nil
}

// expected returns the error of a statement that goes on with something else. PartiQL that the
// engine does not implement is not a mistake.
func (s *statement) expected(call, what string) error {
	s.space()
	for _, other := range []string{"--", "/*", ";", "+", "-", "*", "/", "%", "||", "("} { // longer signs come first
		if strings.HasPrefix(s.rest, other) {
			return api.Unsupported(call, other+" in this place of a PartiQL statement")
		}
	}
	for _, other := range []string{"IS", "BETWEEN", "IN", "LIKE", "NOT", "EXISTS", "RETURNING", "ON"} {
		if s.keyword(other) {
			return api.Unsupported(call, "PartiQL "+other)
		}
	}
	return &Malformed{"Expected " + what}
}

// value reads a ?, a text in quotes, a number, TRUE, FALSE or NULL into a new slot. It reports
// whether there is one. A value of another form is an error.
func (s *statement) value(call string, into *slots) (bool, error) {
	s.space()
	var v types.AttributeValue
	switch {
	case s.punct('?'):
	case strings.HasPrefix(s.rest, "'"):
		text, ok := s.text('\'')
		if !ok {
			return false, &Malformed{"A text has no end"}
		}
		v = &types.AttributeValueMemberS{Value: text}
	case s.keyword("TRUE"):
		v = &types.AttributeValueMemberBOOL{Value: true}
	case s.keyword("FALSE"):
		v = &types.AttributeValueMemberBOOL{}
	case s.keyword("NULL"):
		v = &types.AttributeValueMemberNULL{Value: true}
	case strings.IndexAny(s.rest, "{[`") == 0 || strings.HasPrefix(s.rest, "<<"):
		return false, api.Unsupported(call, "a list, map, set or Ion value in a PartiQL statement")
	default:
		number := numberLiteral.FindString(s.rest)
		if number == "" {
			return false, nil
		}
		s.rest = s.rest[len(number):]
		if s.rest != "" && (isWordByte(s.rest[0]) || s.rest[0] == '.') {
			return false, &Malformed{"Unexpected text after a number: " + s.rest}
		}
		v = &types.AttributeValueMemberN{Value: number}
	}
	*into = append(*into, v)
	return true, nil
}

var numberLiteral = regexp.MustCompile(`^[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,7})?`)

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
	values, err := in.slots.fill(parameters)
	if err != nil {
		return nil, err
	}
	m := make(map[string]types.AttributeValue, len(in.names))
	for i, name := range in.names {
		m[name] = values[i]
	}
	return m, nil
}
