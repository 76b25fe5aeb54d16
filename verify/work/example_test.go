package work_test

import (
	"fmt"

	"github.com/ingot-events/ingot/verify/work"
)

// A folder on disk serves one machine. One in a bucket serves many, and outlives them.
func ExampleOpen() {
	onDisk, err := work.Open("/var/tmp/verify", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	inBucket, err := work.Open("s3://shop-work/verify/2026-03-01", func() work.Client { return nil /* s3.NewFromConfig(…) */ })
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v\n%v\n", onDisk, inBucket)
	_, err = work.Open("s3://shop-work", nil)
	fmt.Println(err)
	// Output:
	// /var/tmp/verify
	// s3://shop-work/verify/2026-03-01
	// the work folder "s3://shop-work" is not of the form s3://BUCKET/PREFIX: give each pass a prefix of its own
}
