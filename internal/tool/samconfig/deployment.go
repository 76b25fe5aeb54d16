package samconfig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
)

// Deployment is what samconfig.toml says of where an environment is deployed. Region and Profile
// are empty if it does not say them.
type Deployment struct {
	Stack, Region, Profile string
	From                   string // the place that names the stack, such as samconfig.toml:13:14
}

// DeploymentOf returns where `sam deploy --config-env NAME` deploys to, by the text of a
// samconfig.toml. Errors name the file.
func DeploymentOf(file string, text []byte, name string) (d Deployment, err error) {
	root, err := ReadTOML(text)
	var syntax *template.SyntaxError
	if errors.As(err, &syntax) {
		return d, fmt.Errorf("%s:%d:%d: %s", file, syntax.Line, syntax.Column, syntax.What)
	}
	if err != nil {
		return d, err
	}
	m := root.Member(name)
	if m == nil || m.Value.Kind != template.Map {
		return d, NoEnvironment(file, text, name)
	}
	of := func(key string) string {
		if n := Setting(m.Value, "deploy", key); n != nil {
			return n.Text
		}
		return ""
	}
	d = Deployment{Stack: of("stack_name"), Region: of("region"), Profile: of("profile")}
	if d.Stack == "" {
		return d,
			fmt.Errorf(
				"%s names no stack under %s: write stack_name = \"NAME\" under [%s.global.parameters], or name the stack with --stack NAME",
				file, name, name)
	}
	at := Setting(m.Value, "deploy", "stack_name").Position
	d.From = fmt.Sprintf("%s:%d:%d", file, at.Line, at.Column)
	return d, nil
}

// NoEnvironment says that a samconfig.toml lacks an environment, and which it has.
func NoEnvironment(file string, text []byte, name string) error {
	return fmt.Errorf("%s has no environment %s; it has %s", file, name, strings.Join(Environments(text), ", "))
}

// Environments returns the names of the environments of a samconfig.toml, in the order of the file.
// It returns none if the file is not TOML.
func Environments(text []byte) (names []string) {
	root, err := ReadTOML(text)
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

// Setting returns what a command of SAM reads under a name: its own value, or else that of all
// commands.
func Setting(environment *template.Node, command, name string) *template.Node {
	for _, section := range []string{command, "global"} {
		if n := ParametersOf(environment, section).Value(name); n != nil {
			return n
		}
	}
	return nil
}

// ParametersOf returns the parameters of a section, which is a command of SAM or global. It returns
// nil if there is none.
func ParametersOf(environment *template.Node, section string) *template.Node {
	return environment.Value(section).Value("parameters")
}
