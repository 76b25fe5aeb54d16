package runtimeapi

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
)

// These are the account and the Region in the environment of a function. Config.Env may set another
// Region.
const (
	account = "123456789012"
	region  = "eu-central-1"
)

// environment returns the environment of the process. It has Lambda's variables for an OS-only
// runtime and the function's own variables, which override Lambda's. The order is always the same.
func (c Config) environment(api string) []string {
	env := map[string]string{
		"AWS_ACCESS_KEY_ID":               "AKIAIOSFODNN7EXAMPLE",
		"AWS_DEFAULT_REGION":              region,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(c.Memory),
		"AWS_LAMBDA_FUNCTION_NAME":        c.Name,
		"AWS_LAMBDA_FUNCTION_VERSION":     "$LATEST",
		"AWS_LAMBDA_INITIALIZATION_TYPE":  "on-demand",
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + c.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      "2026/01/01/[$LATEST]0123456789abcdef0123456789abcdef",
		"AWS_REGION":                      region,
		"AWS_SECRET_ACCESS_KEY":           "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		"LAMBDA_TASK_ROOT":                filepath.Dir(c.Binary),
		"LANG":                            "en_US.UTF-8",
		"PATH":                            "/usr/local/bin:/usr/bin/:/bin",
		"TMPDIR":                          os.TempDir(),
		"TZ":                              ":UTC",
		"_HANDLER":                        filepath.Base(c.Binary),
	}
	maps.Copy(env, c.Env)
	env["AWS_LAMBDA_RUNTIME_API"] = api
	pairs := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		pairs = append(pairs, name+"="+env[name])
	}
	return pairs
}

func (c Config) arn() string {
	where := region
	if r := c.Env["AWS_REGION"]; r != "" {
		where = r
	}
	return fmt.Sprintf("arn:aws:lambda:%s:%s:function:%s", where, account, c.Name)
}

// traceID returns an X-Ray header. It says that the trace is not sampled, because nothing collects
// traces here.
func traceID(inv *invocation) string {
	return fmt.Sprintf("Root=1-%08x-%s%s;Parent=%s;Sampled=0",
		inv.deadline.Unix(), inv.id[:8], "0000000000000000", "0000000000000000")
}
