package migrate_test

import (
	"context"
	"fmt"

	"github.com/ingot-events/ingot/migrate"
)

// While a service changes over, a key that is not in the new table yet is read from the old one.
func ExampleReader_Get() {
	table := func(values map[string]string) func(context.Context, string) (migrate.Answer[string], error) {
		return func(_ context.Context, key string) (migrate.Answer[string], error) {
			value, found := values[key]
			return migrate.Answer[string]{Value: value, Found: found}, nil
		}
	}
	reader := migrate.Reader[string, string]{
		Old:   table(map[string]string{"u1": "ann", "u2": "bob"}),
		New:   table(map[string]string{"u1": "ann"}),
		Name:  func(key string) string { return key },
		Equal: func(old, now string) bool { return old == now },
		Stage: func() migrate.Stage { return migrate.Stage{New: 100} },
	}
	for _, key := range []string{"u1", "u2"} {
		answer, err := reader.Get(context.Background(), key)
		fmt.Println(answer.Value, err)
	}
	fmt.Println(reader.Counts().FromNew, reader.Counts().FellBack)
	// Output:
	// ann <nil>
	// bob <nil>
	// 1 1
}
