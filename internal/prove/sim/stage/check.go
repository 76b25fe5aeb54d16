package stage

import "fmt"

// Check names one promise. A [Failure] says which promise was broken.
type Check string

// These are the promises that worlds of several kinds check.
const (
	Stuck      Check = "stuck"      // faults have stopped, but the world does not come to rest
	Afterwards Check = "afterwards" // an invocation went on after its answer
	Denied     Check = "denied"     // the role of a function does not allow what it sends
	Undeserved Check = "undeserved" // a verdict, or a letter's reason, is not what the key and the clock say
	Generation Check = "generation" // a generation differs from what its head says
	Broken     Check = "broken"     // the world itself failed
)

// Failure is a broken promise.
type Failure struct {
	Check  Check
	Detail string
	Step   int
}

func (f *Failure) Error() string { return fmt.Sprintf("%s at step %d: %s", f.Check, f.Step, f.Detail) }
