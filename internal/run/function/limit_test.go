package function

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/ingot-events/ingot/internal/kit/must"
)

func TestLimitMemory(t *testing.T) {
	before, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetMemoryLimit(before); debug.SetGCPercent(percent) })
	for name, tt := range map[string]struct {
		env     map[string]string
		want    int64
		percent int
	}{
		"of the sandbox":  {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512"}, 512 << 20 / 5 * 4, lazier},
		"a small sandbox": {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256"}, 256 << 20 / 5 * 4, lazy},
		"collector set":   {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "GOGC": "100"}, 512 << 20 / 5 * 4, 100},
		"not told":        {nil, math.MaxInt64, 100},
		"not a number":    {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "much"}, math.MaxInt64, 100},
		"nothing":         {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "0"}, math.MaxInt64, 100},
		"too large":       {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "9223372036854775807"}, math.MaxInt64, 100},
		"set by hand":     {map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512", "GOMEMLIMIT": "100MiB"}, math.MaxInt64, 100},
	} {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			debug.SetGCPercent(100)
			limitMemory(environment(tt.env))
			must.Equal(t, debug.SetMemoryLimit(-1), tt.want)
			must.Equal(t, debug.SetGCPercent(100), tt.percent)
		})
	}
}
