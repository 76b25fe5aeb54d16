package wire

import (
	"net/http"
	"slices"
	"strings"
)

// These are the headers of S3 that every request may have. They are part of the signature, say how
// the body is sent, or ask for what happens anyway.
var objectHeaders = []string{"Content-Sha256", "Date", "Security-Token", "User-Agent", "Decoded-Content-Length", "Trailer",
	"Expected-Bucket-Owner", "Sdk-Checksum-Algorithm"}

// asked are headers whose usual value asks for what happens anyway.
var asked = map[string]string{"X-Amz-Acl": "private", "X-Amz-Storage-Class": "STANDARD", "X-Amz-Server-Side-Encryption": "AES256",
	"Content-Encoding": "aws-chunked"}

// changing are other headers that would change what is done or stored.
var changing = []string{"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "Content-Encoding", "Content-Disposition",
	"Content-Language", "Expires", "Cache-Control"}

// foreignHeader returns the name of a header that asks for something which is not implemented, or
// an empty text.
func foreignHeader(r *http.Request) string {
	put := r.Method == http.MethodPut
	for name, values := range r.Header {
		short, amazon := strings.CutPrefix(name, "X-Amz-")
		switch {
		case !amazon && !slices.Contains(changing, name):
		case len(values) == 1 && asked[name] == values[0]:
		case slices.Contains(objectHeaders, short) || strings.HasPrefix(name, checksum):
		case put && (strings.HasPrefix(name, metadata) || name == "If-Match" || name == "If-None-Match"):
		case !put && (name == "Cache-Control" || name == "Content-Encoding"): // they say nothing about an object
		default:
			return name
		}
	}
	return ""
}
