package ingottest_test

import "fmt"

// t stands in the examples where a test has its *testing.T.
var t printer

// check ends an example that cannot go on.
func check(err error) {
	if err != nil {
		panic(err)
	}
}

type printer struct{}

func (printer) Helper()                   {}
func (printer) Fatal(a ...any)            { panic(fmt.Sprint(a...)) }
func (printer) Logf(f string, a ...any)   { fmt.Printf(f+"\n", a...) }
func (printer) Errorf(f string, a ...any) { fmt.Printf("FAILED: "+f+"\n", a...) }
func (printer) Fatalf(f string, a ...any) { panic(fmt.Sprintf(f, a...)) }
