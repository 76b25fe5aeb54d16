package event

// names finds a member name that an object has twice. In an object with up to manyNames members, it
// compares a name with the names before it, but only if the bit of the name is set already. In a
// larger object it keeps a map, so that an object with a hundred thousand members takes linear
// time.
type names struct {
	bits  uint64
	count int
	all   map[string]struct{}
}

const manyNames = 24

// repeats adds the name at index name of p's tape to those of the open object self, and reports
// whether it was there before.
func (s *names) repeats(p *parser, self, name int) bool {
	text := nameAt(p, name)
	s.count++
	if s.all != nil {
		_, found := s.all[text]
		s.all[text] = struct{}{}
		return found
	}
	bit := uint64(1) << (nameHash(text) & 63)
	found := s.bits&bit != 0 && s.scan(p, self, name, text)
	s.bits |= bit
	if s.count == manyNames {
		s.all = make(map[string]struct{}, 4*manyNames)
		for i := self + 1; i <= name; i = int(p.tape[i+1].next) {
			s.all[nameAt(p, i)] = struct{}{}
			if i == name {
				break // its value is not on the tape yet
			}
		}
	}
	return found
}

func (s *names) scan(p *parser, self, name int, text string) bool {
	for i := self + 1; i < name; i = int(p.tape[i+1].next) {
		if nameAt(p, i) == text {
			return true
		}
	}
	return false
}

// nameHash is a quick hash. Equal names have equal hashes. Different names in one object seldom
// have equal hashes.
func nameHash(name string) uint32 {
	if name == "" {
		return 0
	}
	n := len(name)
	return uint32(name[0]) ^ uint32(name[n-1])<<2 ^ uint32(name[n/2])<<4 ^ uint32(n)*7
}

func nameAt(p *parser, i int) string {
	return decoded(p.src, &p.tape[i])
}
