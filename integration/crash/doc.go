// Package crash runs the built functions, as they are deployed, and kills them: SIGKILL at random moments, a few
// hundred times, while events flow. In the end nothing may be lost and nothing doubled. It holds a test only.
//
// Messages come from the queue of internal/embedded and are handed over by internal/lambda/esm, in the test's process;
// tables and stream are an emulator's over HTTP: the one that INTEGRATION_ENDPOINT names, else the one that
// scripts/dynoxide.sh fetches, else LocalStack in a container. Where there is none, the test skips with one line
// that says what is missing; INTEGRATION_REQUIRED=1 turns that into a failure.
package crash
