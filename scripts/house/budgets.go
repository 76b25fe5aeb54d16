package main

// budget is what a number may be. To raise one is a decision, and the body of the commit gives its
// reason.
type budget struct {
	most int
	goal int    // what was asked for, where that is less; otherwise 0
	why  string // why it is more
}

const later = "Regions, moving a table, publishing and --large came after the goal"

var budgets = map[string]budget{
	"heart: lines of code": {6_260, 5_900, "Regions, long arrays on FIFO queues, and expiry in short windows came after the goal, with some " +
		"250 lines; what is left would be denser code"},
	"heart: tokens": {50_200, 47_000, "as for its lines"},
	"heart: files":  {57, 48, "seven are a doc.go, and each other one has a subject: 125 lines of code on average"},
	"heart: lines of code of the largest file": {most: 300},
	"heart: lines of the longest function":     {most: 60},
	"folders directly under internal/":         {most: 9},
	"lines of code in both functions": {23_380, 20_500, later + "; what checks a pipeline for people is in the package that compiles it, and the linker " +
		"leaves it out"},
	"tokens of source":                            {848_000, 610_000, later + "; the budgets of the parts hold it now"},
	"tokens of source: the tool":                  {most: 270_200},
	"tokens of source: AWS on this machine":       {most: 100_800},
	"tokens of source: the proof":                 {most: 209_900},
	"tokens of source: library":                   {most: 41_300},
	"tokens of source: moving a table":            {most: 27_700},
	"tokens of source: publishing":                {most: 7_200},
	"tokens of source: declaration and functions": {most: 191_900},
	"tokens of tests":                             {817_100, 590_000, later},
	"lines over 140 columns, beside whole texts":  {most: 0},
	"methods on store.Store":                      {most: 30},
	"methods on the simulator's world":            {most: 60},
	"folders at the top and directly under internal/": {28, 24, "migrate, publish and worker are of features that came after the goal, and tables has " +
		"what the handlers and the library share"},
	"wrong designs in the simulation": {93, 50, "47 of them are of moving a table and of publishing, which came after the goal"},
	"pairs of folders of which one imports the other": {189, 130, "88 of them lead to event, keys, envelope, aggregate, env, pipeline or " +
		"tables, which stay at the top; " + later},
	"lines of code of the largest package": {3_590, 3_000, "DynamoDB on this machine is larger: 15 of its files call each other in circles, so a " +
		"wall would only add names. All others are below the goal"},
	"files of the largest package": {most: 30},
	"lines of code of the largest package of the proof": {7_870, 3_000, "one simulated world has all features, a file for each; " +
		"44 of its files know each other through it"},
	"files of the largest package of the proof": {48, 30, "as for its lines"},
	"words of README and docs":                  {66_700, 59_000, "1,200 for each new feature"},
	"words of the longest page":                 {most: 6_000},
}
