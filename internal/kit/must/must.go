// Package must says in a test what has to succeed, what has to fail, and what a text has to say. It
// is for tests alone.
package must

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Succeed ends the test if there is an error.
func Succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Fail reports a call that has to fail and did not, or whose error lacks one of the words.
func Fail(t testing.TB, err error, words ...string) {
	t.Helper()
	for _, word := range words {
		if err == nil || !strings.Contains(err.Error(), word) {
			t.Errorf("error %v, want one with %q", err, word)
		}
	}
}

// Say reports a text that lacks one of the words.
func Say(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("it lacks %q:\n%s", word, text)
		}
	}
}

// Read returns the content of a file.
func Read(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	Succeed(t, err)
	return text
}

// Write writes a file.
func Write(t testing.TB, name, text string) {
	t.Helper()
	Succeed(t, os.WriteFile(name, []byte(text), 0o644))
}

// Equal reports a value that is not the one that it should be, with what is given besides.
func Equal[T comparable](t testing.TB, got, want T, besides ...any) {
	t.Helper()
	if got != want {
		t.Errorf("it is %v, want %v%s", got, want, told(besides))
	}
}

// Match is like Equal, for what == cannot compare. A nil slice or map is not an empty one.
func Match(t testing.TB, got, want any, besides ...any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("it is %v, want %v%s", got, want, told(besides))
	}
}

func told(besides []any) (text string) {
	for _, one := range besides {
		text += fmt.Sprintf("; %v", one)
	}
	return text
}

// Time returns the time that a text says as RFC 3339 has it. It panics if the text says none.
func Time(text string) time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return at
}
