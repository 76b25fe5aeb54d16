package contract

import "slices"

// Backend is an emulator that the suite runs on.
type Backend struct {
	Name     string // as in Harness and Difference
	Title    string
	Services []string
}

// Backends are those for which differences are listed.
var Backends = []Backend{
	{"localstack", "LocalStack", []string{dynamo, streams, queues, objects}},
	{"dynoxide", "Dynoxide", []string{dynamo, streams}},
}

// BackendOf returns the backend with that name. If there is none in [Backends], the result has only
// the name.
func BackendOf(name string) Backend {
	for _, b := range Backends {
		if b.Name == name {
			return b
		}
	}
	return Backend{Name: name, Title: name}
}

// Count counts three kinds of cases: those in which a backend agrees, those in which it is listed
// as different, and those about a service that it does not have.
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
