// Package cli has what every command of the tool uses: its streams and the form of its output
// ([IO]), and the errors that decide about its exit code, such as [Usage]. It knows no flag.
package cli
