// Package prove has what proves the project: the simulation and its wrong designs, benchmarks, cold
// starts, other implementations of AWS, and checks of the repository and its pages.
//
// May import: everything except cmd.
//
// Never knows: nothing is hidden from it, and nothing else imports it, apart from tests.
package prove
