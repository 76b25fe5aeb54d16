package capture_test

import (
	"context"
	"fmt"
	"os"
	"testing/fstest"

	"github.com/ingot-events/ingot/migrate/capture"
)

// A function that cannot work does not start, and says what to set.
func Example() {
	os.Clearenv()
	_, err := capture.New(context.Background(), fstest.MapFS{})
	fmt.Println(err)
	// Output:
	// environment:
	//   INGOT_TABLE is not set: set it to the name of the events table
	//   INGOT_AGGREGATES_TABLE is not set: set it to the name of the aggregates table
}
