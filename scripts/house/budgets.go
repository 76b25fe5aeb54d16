package main

// budgets are the most that each number may be. To raise one is a decision, and the body of the
// commit gives its reason.
var budgets = map[string]int{
	"heart: lines of code": 6_330,
	"heart: tokens":        50_700,
	"heart: files":         62,
	"heart: lines of code of the largest file":        300,
	"heart: lines of the longest function":            60,
	"folders directly under internal/":                9,
	"lines of code in both functions":                 24_350,
	"tokens of source":                                847_200,
	"tokens of source: the tool":                      270_200,
	"tokens of source: AWS on this machine":           100_800,
	"tokens of source: the proof":                     209_400,
	"tokens of source: library":                       41_300,
	"tokens of source: moving a table":                27_700,
	"tokens of source: publishing":                    7_200,
	"tokens of source: declaration and functions":     191_600,
	"tokens of tests":                                 816_600,
	"lines over 140 columns, beside whole texts":      0,
	"methods on store.Store":                          30,
	"methods on the simulator's world":                60,
	"pairs of folders of which one imports the other": 200,
	"lines of code of the largest package":            7_870,
	"files of the largest package":                    50,
	"words of README and docs":                        66_700,
	"words of the longest page":                       6_000,
}
