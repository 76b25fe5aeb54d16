package excerpt

// pages is where the folder docs of this project is published. A repository that ingot init makes
// has no such folder, so that a message names the address.
const pages = "https://github.com/ingot-events/ingot/blob/main/docs/"

// Page returns the address of a page of this project's documents, such as watch.md#queue-age, or of
// the folder if name is empty.
func Page(name string) string { return pages + name }
