package contract

import "slices"

// Backend is an emulator that the suite runs on.
type Backend struct {
	Name     string // as in Harness and Difference
	Title    string
	Services []string
}

// Backends are those that differences are listed for.
var Backends = []Backend{
	{"localstack", "LocalStack", []string{tables, streams, queues, objects}},
	{"dynoxide", "Dynoxide", []string{tables, streams}},
}

// BackendOf is the one of that name; any other is its name and no more.
func BackendOf(name string) Backend {
	for _, b := range Backends {
		if b.Name == name {
			return b
		}
	}
	return Backend{Name: name, Title: name}
}

// Count counts the cases that a backend agrees to, in which it is listed to differ, and those that are about a
// service that it does not have.
func Count(b Backend, cases []*Case) (agree, differ, none int) {
	for _, c := range cases {
		differs := slices.ContainsFunc(Differences, func(d Difference) bool {
			return d.Backend == b.Name && slices.Contains(c.Differences, d.Name)
		})
		switch {
		case !slices.Contains(b.Services, c.Service):
			none++
		case differs:
			differ++
		default:
			agree++
		}
	}
	return agree, differ, none
}
