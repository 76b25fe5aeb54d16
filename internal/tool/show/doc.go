// Package show writes output for people: tables that fit a terminal, numbers, progress, and other
// people's text with everything harmful escaped. [Personal] masks what a pipeline hashes because it
// is personal.
package show
