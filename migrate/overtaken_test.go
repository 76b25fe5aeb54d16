package migrate_test

import (
	"testing"

	"github.com/ingot-events/ingot/env"
	"github.com/ingot-events/ingot/migrate"
)

// Before each request of a process that copies a row, an application changes the row, and another
// process copies that to its end. The copy must be what the row is then.
func TestNoCopyIsOvertaken(t *testing.T) {
	first, second := profile("1", "ann", "+1"), profile("1", "bob", "+1", "+2")
	last := profile("1", "eve", "+2", "+3")
	key := keyOf(first)
	deleted := func(m *moving) { m.gone(m.old.Table, key) }
	for name, change := range map[string]func(m *moving){
		"rewritten":          func(m *moving) { m.put("old", last) },
		"deleted":            deleted,
		"deleted and put":    func(m *moving) { deleted(m); m.put("old", last) },
		"deleted and as was": func(m *moving) { deleted(m); m.put("old", second) },
	} {
		for _, mode := range []migrate.Mode{migrate.Always, migrate.IfDifferent} {
			for _, copied := range []bool{false, true} {
				for at, reached := 1, true; reached; at++ {
					m := begin(t)
					process := func() *migrate.Migration {
						m.config.Env.Group = func() env.Group { return inOrder{} }
						return m.reopened()
					}
					one, other := process(), process()
					changed := []migrate.Changed{{Key: key, Images: []migrate.Row{first, second, last}}}
					if copied {
						m.put("old", first)
						other.Do(t.Context(), migrate.Always, changed)
					}
					m.put("old", second)
					reached = false
					n := 0
					m.on = func(string, any) error {
						if n++; n == at {
							reached, m.on = true, nil
							change(m)
							if done := other.Do(t.Context(), migrate.Always, changed); len(done.Left) > 0 {
								t.Errorf("%+v", done)
							}
						}
						return nil
					}
					one.Do(t.Context(), mode, changed)
					m.on = nil
					if look := other.Do(t.Context(), migrate.IfDifferent, changed); look.Written+look.Tombstones > 0 {
						t.Errorf("%s before request %d (mode %d, copied: %t): the copy was not what the row is: %+v", name, at, mode, copied, look)
					}
				}
			}
		}
	}
}
