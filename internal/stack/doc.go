// Package stack makes on the embedded engine what template.yaml declares in an account: tables with their
// indexes, stream and time to live, the three queues, and the archive bucket; and a clock to run it by.
package stack
