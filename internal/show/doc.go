// Package show writes for people: tables that fit a terminal, numbers, progress, and other people's
// text made harmless. [Personal] masks what a pipeline hashes because it is personal.
package show
