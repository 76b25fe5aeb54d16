package rules

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ingot-events/ingot/internal/tool/check/template"
	"github.com/ingot-events/ingot/internal/tool/samconfig"
	"github.com/ingot-events/ingot/internal/tool/textfile"
)

// Environment is one environment of samconfig.toml: what `sam --config-env NAME` reads.
type Environment struct {
	Name       string
	parameters map[string]override
}

// override is one of parameter_overrides.
type override struct {
	value string
	at    template.Position
}

// Values returns the environment's parameters. Those of the command line replace them.
func (e Environment) Values(given map[string]string) map[string]string {
	all := map[string]string{}
	for name, o := range e.parameters {
		all[name] = o.value
	}
	for name, value := range given {
		all[name] = value
	}
	return all
}

// Refused removes the parameters that the template does not accept, and reports them. SAM ignores a
// name that it does not know and says nothing.
func (e Environment) Refused(t *template.Template, config *textfile.File) []Finding {
	var list []Finding
	for _, name := range slices.Sorted(maps.Keys(e.parameters)) {
		o := e.parameters[name]
		if err := t.Accepts(name, o.value); err != nil {
			list = append(list, Finding{Mistake, "samconfig-parameter", config.Name, o.at.Line, o.at.Column, "under " + e.Name + ": " +
				err.Error(), ""})
			delete(e.parameters, name)
		}
	}
	return list
}

// config compares one samconfig.toml with what SAM does with it.
type config struct{ Notes }

// ReadConfig reads the environments of a samconfig.toml, in the order of the file. It reports the
// file's mistakes.
func ReadConfig(f textfile.File) ([]Environment, []Finding) {
	c := &config{Notes{File: f.Name}}
	root, err := samconfig.ReadTOML(f.Text)
	var syntax *template.SyntaxError
	if errors.As(err, &syntax) {
		c.Mistake("samconfig", syntax.Position, syntax.What, syntax.Instead)
		return nil, c.Findings
	}
	if root.Member("version") == nil {
		c.Mistake("samconfig", root.Position, "the file has no version, and SAM refuses it", "version = 0.1 into its first line")
	}
	var list []Environment
	stacks := map[string]string{}
	for i := range root.Members {
		m := &root.Members[i]
		if m.Value.Kind != template.Map {
			continue
		}
		list = append(list, c.environment(m))
		if name := samconfig.Setting(m.Value, "deploy", "stack_name"); name != nil {
			if other, taken := stacks[name.Text]; taken {
				c.Mistake("samconfig-stack", name.Position, fmt.Sprintf("%s has stack %s, as %s has: deploying one would change the other",
					m.Name, name.Text, other), "a name of its own")
			}
			stacks[name.Text] = m.Name
		}
	}
	return list, c.Findings
}

func (c *config) environment(m *template.Member) Environment {
	e := Environment{Name: m.Name, parameters: map[string]override{}}
	if n := samconfig.Setting(m.Value, "deploy", "parameter_overrides"); n != nil {
		c.overrides(e, n)
	}
	c.bothCommands(m)
	if n := samconfig.Setting(m.Value, "build", "cached"); n != nil && n.Text == "true" {
		c.Mistake("samconfig-cached", n.Position, "SAM's cache looks only at the files in a Go function's own folder: after a change in "+
			"another package, the old program would be deployed", "cached = false")
	}
	if deploy := m.Value.Member("deploy"); deploy != nil {
		capabilities := samconfig.Setting(m.Value, "deploy", "capabilities")
		if !contains(capabilities, "CAPABILITY_IAM") && !contains(capabilities, "CAPABILITY_NAMED_IAM") {
			c.Mistake("samconfig-capabilities", where(capabilities, deploy.Position),
				"CloudFormation makes the functions' roles only with CAPABILITY_IAM", `capabilities = "`+
					strings.TrimSpace(wordsOf(capabilities)+" CAPABILITY_IAM")+`" into [`+m.Name+".deploy.parameters]")
		}
		resolve, bucket := samconfig.Setting(m.Value, "deploy", "resolve_s3"), samconfig.Setting(m.Value, "deploy", "s3_bucket")
		if bucket == nil && (resolve == nil || resolve.Text != "true") {
			c.Mistake("samconfig-bucket", where(resolve, deploy.Position),
				"sam deploy has no bucket for the functions' code, and stops", "resolve_s3 = true into ["+m.Name+".deploy.parameters]")
		}
	}
	return e
}

func contains(n *template.Node, word string) bool {
	return slices.Contains(strings.Fields(wordsOf(n)), word)
}

// wordsOf returns the words of a text, or of a list of texts, with blanks between them.
func wordsOf(n *template.Node) string {
	if n == nil {
		return ""
	}
	words := strings.Fields(n.Text)
	for _, item := range n.Items {
		words = append(words, item.Text)
	}
	return strings.Join(words, " ")
}

// bothCommands reports parameters that only deploy reads, because the build does not know them.
func (c *config) bothCommands(m *template.Member) {
	own := samconfig.ParametersOf(m.Value, "deploy").Member("parameter_overrides")
	if own == nil {
		return
	}
	if n := samconfig.Setting(m.Value, "build", "parameter_overrides"); n != nil && n.Text == own.Value.Text {
		return
	}
	c.Mistake("samconfig-overrides", own.Position,
		"sam build does not read the parameters of deploy: with another Architecture it would build for the wrong processor", "them under "+
			m.Name+".global.parameters, and nowhere else")
}

// overrides reads "A=B C=D", a list of the same, and SAM's older form.
func (c *config) overrides(e Environment, n *template.Node) {
	words := []*template.Node{n}
	switch n.Kind {
	case template.List:
		words = n.Items
	case template.Map:
		for _, m := range n.Members {
			e.parameters[m.Name] = override{m.Value.Text, m.Position}
		}
		return
	}
	for _, w := range words {
		for _, word := range shellWords(w.Text) {
			name, value, ok := strings.Cut(word, "=")
			if old, found := strings.CutPrefix(word, "ParameterKey="); found {
				name, value, ok = strings.Cut(old, ",ParameterValue=")
			}
			if !ok || name == "" {
				c.Mistake("samconfig-overrides", w.Position, fmt.Sprintf("%q is not a parameter", word),
					`parameter_overrides = "NAME=VALUE NAME=VALUE"`)
				continue
			}
			e.parameters[name] = override{value, w.Position}
		}
	}
}

// shellWords cuts a text at blanks outside of quotes, and removes the quotes.
func shellWords(text string) []string {
	var words []string
	var word strings.Builder
	quote, open := rune(0), false
	for _, r := range text + " " {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if open || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
		}
	}
	return words
}
