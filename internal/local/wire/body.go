package wire

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/local/embedded"
)

// body reads a body of at most that many bytes, and the checksums that come with it in headers or
// in trailers. It checks the one that is part of the signature.
func body(w http.ResponseWriter, r *http.Request, most int64) (text []byte, sums embedded.Checksums, err error) {
	from, signed := io.Reader(http.MaxBytesReader(w, r.Body, most)), r.Header.Get("X-Amz-Content-Sha256")
	headers := r.Header
	if strings.HasPrefix(signed, "STREAMING-") {
		chunks := newChunked(from)
		from, headers = chunks, chunks.trailers
	}
	if text, err = io.ReadAll(from); err != nil {
		return nil, sums, err
	}
	if length := r.Header.Get("X-Amz-Decoded-Content-Length"); length != "" && length != strconv.Itoa(len(text)) {
		return nil, sums,
			&smithy.GenericAPIError{Code: "IncompleteBody", Message: "The request body is not as long as x-amz-decoded-content-length says",
				Fault: smithy.FaultClient}
	}
	if sum := sha256.Sum256(text); len(signed) == 2*len(sum) && signed != hex.EncodeToString(sum[:]) {
		return nil, sums, &smithy.GenericAPIError{Code: "XAmzContentSHA256Mismatch",
			Message: "The provided 'x-amz-content-sha256' header does not match what was computed.", Fault: smithy.FaultClient}
	}
	known := map[string]**string{"Crc32": &sums.CRC32, "Crc32c": &sums.CRC32C, "Crc64nvme": &sums.CRC64NVME, "Sha1": &sums.SHA1,
		"Sha256": &sums.SHA256}
	for _, from := range []http.Header{r.Header, headers} {
		for name := range from {
			kind, is := strings.CutPrefix(name, checksum)
			if !is || kind == "Mode" || kind == "Type" || kind == "Algorithm" {
				continue
			}
			if known[kind] == nil {
				return nil, sums, unsupportedObject(r, "the checksum "+name)
			}
			*known[kind] = optional(from, name)
		}
	}
	sums.MD5 = optional(r.Header, "Content-Md5")
	return text, sums, nil
}

// checksum begins the names of the headers of checksums.
const checksum = "X-Amz-Checksum-"
