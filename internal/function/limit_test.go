package function

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestLimitMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for name, tt := range map[string]struct {
		env  map[string]string
		want int64
	}{
		"of the sandbox": {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"}, 512 << 20 / 10 * 9},
		"not told":       {nil, math.MaxInt64},
		"not a number":   {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "much"}, math.MaxInt64},
		"nothing":        {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "0"}, math.MaxInt64},
		"too large":      {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "9223372036854775807"}, math.MaxInt64},
		"set by hand":    {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "GOMEMLIMIT": "100MiB"}, math.MaxInt64},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			limitMemory(environment(tt.env))
			if got := debug.SetMemoryLimit(-1); got != tt.want {
				t.Errorf("limit %d, want %d", got, tt.want)
			}
		})
	}
}
