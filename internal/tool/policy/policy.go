// Package policy makes IAM policies: for what each command of ingot sends to a stack, for who
// deploys the template, for a producer, and for who reads by a pattern.
package policy

import (
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/internal/local/iam"
	"github.com/ingot-events/ingot/internal/plan/lanes"
	"github.com/ingot-events/ingot/pipeline/pattern"
	"github.com/ingot-events/ingot/pipeline/question"
)

// Document is an IAM policy. IAM fixes the names of its members.
type Document struct {
	Version   string
	Statement []Statement
}

// Statement allows actions on resources.
type Statement struct {
	Sid       string
	Effect    string
	Action    []string
	Resource  []string
	Condition map[string]map[string]any `json:",omitempty"`
}

// Role returns who has these rights, as the engine judges requests.
func Role(name string, rights []Statement) *iam.Role {
	r := &iam.Role{Name: name}
	for _, s := range rights {
		of := iam.Statement{Actions: s.Action}
		for _, resource := range s.Resource {
			if parts := strings.SplitN(resource, ":", 6); len(parts) == 6 { // arn:PARTITION:SERVICE:REGION:ACCOUNT:NAME
				resource = parts[2] + ":" + parts[5]
			}
			of.Resources = append(of.Resources, resource)
		}
		for _, condition := range s.Condition {
			if keys, ok := condition["dynamodb:LeadingKeys"].([]string); ok {
				of.Keys = keys
			}
		}
		r.Statements = append(r.Statements, of)
	}
	return r
}

// Reading returns the statement that allows reading by a pattern.
func Reading(p *pattern.Pattern, r ARNs, tag string) (Statement, error) {
	sid := "Read"
	for _, word := range strings.Split(p.Name(), "_") {
		if word != "" {
			sid += strings.ToUpper(word[:1]) + word[1:]
		}
	}
	resources := []string{r.events}
	switch {
	case p.Top() > 0:
		resources = []string{r.aggregates, r.aggregates + "/index/" + lanes.RankIndex}
	case p.Total() != "":
		resources = []string{r.aggregates}
	case p.Index() != "":
		resources = []string{r.events + "/index/" + p.Index()}
	}
	s := allow(sid, strings.Join(question.Actions(p), " "), resources...)
	if tag == "" {
		return s, nil
	}
	keys, err := question.LeadingKeys(p, "${aws:PrincipalTag/"+tag+"}")
	if err != nil {
		return s, fmt.Errorf("no condition on --principal-tag is right for %w", err)
	}
	// ForAllValues also allows a request without keys. Null refuses such a request.
	s.Condition = map[string]map[string]any{
		"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": keys},
		"Null":                      {"dynamodb:LeadingKeys": "false"},
	}
	return s, nil
}
