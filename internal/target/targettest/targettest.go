// Package targettest stands in for the parts of AWS that the engine does not have, for the tests of
// the tool: CloudFormation's description of a stack.
package targettest

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"strings"

	"github.com/ingot-events/ingot/internal/embedded"
	"github.com/ingot-events/ingot/internal/wire"
)

// Stack is a stack that CloudFormation knows.
type Stack struct {
	Name       string
	Protected  bool // from deletion
	Parameters map[string]string
	Outputs    map[string]string
}

// Cloud answers as AWS does, at one address for all services.
type Cloud struct {
	Engine  *embedded.Engine
	Account string
	Region  string
	Stacks  []Stack
	// Refuse makes CloudFormation refuse every request with this error code.
	Refuse string

	wire http.Handler
}

// ServeHTTP answers for CloudFormation itself, and has the engine answer for the rest.
func (c *Cloud) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		if c.wire == nil {
			c.wire = wire.New(c.Engine)
		}
		c.wire.ServeHTTP(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/xml")
	name := r.FormValue("StackName")
	switch action := r.FormValue("Action"); {
	case c.Refuse != "":
		fault(w, http.StatusForbidden, c.Refuse, "User: arn:aws:iam::"+c.Account+":user/jo is not authorized to perform: cloudformation:"+action)
	case action != "DescribeStacks":
		fault(w, http.StatusBadRequest, "InvalidAction", "no action "+action)
	default:
		for _, s := range c.Stacks {
			if s.Name == name {
				c.describe(w, s)
				return
			}
		}
		fault(w, http.StatusBadRequest, "ValidationError", "Stack with id "+name+" does not exist")
	}
}

func fault(w http.ResponseWriter, status int, code, message string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, `<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>r</RequestId></ErrorResponse>`, code, escaped(message))
}

func escaped(text string) string {
	var s strings.Builder
	_ = xml.EscapeText(&s, []byte(text)) // into memory
	return s.String()
}

func (c *Cloud) describe(w http.ResponseWriter, s Stack) {
	fmt.Fprintf(w, `<DescribeStacksResponse><DescribeStacksResult><Stacks><member><StackName>%s</StackName><StackStatus>UPDATE_COMPLETE</StackStatus>`, escaped(s.Name))
	fmt.Fprintf(w, `<StackId>arn:aws:cloudformation:%s:%s:stack/%s/1</StackId><EnableTerminationProtection>%t</EnableTerminationProtection>`, c.Region, c.Account, escaped(s.Name), s.Protected)
	fmt.Fprint(w, `<Parameters>`)
	for name, value := range s.Parameters {
		fmt.Fprintf(w, `<member><ParameterKey>%s</ParameterKey><ParameterValue>%s</ParameterValue></member>`, escaped(name), escaped(value))
	}
	fmt.Fprint(w, `</Parameters><Outputs>`)
	for name, value := range s.Outputs {
		fmt.Fprintf(w, `<member><OutputKey>%s</OutputKey><OutputValue>%s</OutputValue></member>`, escaped(name), escaped(value))
	}
	fmt.Fprint(w, `</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`)
}
