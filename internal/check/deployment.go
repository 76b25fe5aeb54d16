package check

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/internal/check/template"
)

// Deployment is what samconfig.toml says of where an environment is deployed. Region and Profile
// are empty if it does not say them.
type Deployment struct {
	Stack, Region, Profile string
	From                   string // the place that names the stack, such as samconfig.toml:13:14
}

// DeploymentOf returns where `sam deploy --config-env NAME` deploys to.
func DeploymentOf(f File, name string) (Deployment, error) {
	root, err := readTOML(f.Text)
	var syntax *template.SyntaxError
	if errors.As(err, &syntax) {
		return Deployment{}, fmt.Errorf("%s:%d:%d: %s", f.Name, syntax.Line, syntax.Column, syntax.What)
	}
	if err != nil {
		return Deployment{}, err
	}
	m := root.Member(name)
	if m == nil || m.Value.Kind != template.Map {
		return Deployment{}, fmt.Errorf("%s has no environment %s; it has %s", f.Name, name, strings.Join(Environments(f), ", "))
	}
	text := func(key string) string {
		if n := setting(m.Value, "deploy", key); n != nil {
			return n.Text
		}
		return ""
	}
	d := Deployment{Stack: text("stack_name"), Region: text("region"), Profile: text("profile")}
	if d.Stack == "" {
		return d, fmt.Errorf("%s names no stack under %s: write stack_name = \"NAME\" under [%s.global.parameters], or name the stack with --stack NAME", f.Name, name, name)
	}
	at := setting(m.Value, "deploy", "stack_name").Position
	d.From = fmt.Sprintf("%s:%d:%d", f.Name, at.Line, at.Column)
	return d, nil
}

// Environments returns the names of the environments of a samconfig.toml, in the order of the file.
// It returns none if the file is not TOML.
func Environments(f File) (names []string) {
	root, err := readTOML(f.Text)
	if err != nil {
		return nil
	}
	for i := range root.Members {
		if m := &root.Members[i]; m.Value.Kind == template.Map {
			names = append(names, m.Name)
		}
	}
	return names
}
