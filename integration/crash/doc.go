// Package crash runs the built functions as they are deployed, and kills them with SIGKILL at
// random moments, a few hundred times, while events flow. At the end nothing may be lost and
// nothing doubled. The package holds only a test.
//
// Messages come from the queue of internal/local/embedded. internal/esm passes them
// on, in the process of the test. Tables and stream are those of an emulator over HTTP: the one
// that INTEGRATION_ENDPOINT names, otherwise the one that scripts/dynoxide.sh fetches, otherwise
// LocalStack in a container. If there is none, the test skips with one line that says what is
// missing. With INTEGRATION_REQUIRED=1 it fails instead.
package crash
