package s3

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"strings"

	"github.com/ingot-events/ingot/internal/local/embedded/api"
)

// Checksums are the checksums that come with a body, each in base64. At most one of those other
// than MD5 may be given.
type Checksums struct{ MD5, CRC32, CRC32C, CRC64NVME, SHA1, SHA256 *string }

// Check returns an error if a checksum is not that of the body.
func (c Checksums) Check(body []byte) error {
	if c.MD5 != nil {
		sum := md5.Sum(body)
		given, err := base64.StdEncoding.DecodeString(*c.MD5)
		switch {
		case err != nil || len(given) != len(sum):
			return api.Error("InvalidDigest", "The Content-MD5 you specified was invalid.")
		case string(given) != string(sum[:]):
			return api.Error("BadDigest", "The Content-MD5 you specified did not match what we received.")
		}
	}
	found := 0
	for _, one := range []struct {
		name  string
		given *string
		hash  hash.Hash
	}{
		{"CRC32", c.CRC32, crc32.NewIEEE()}, {"CRC32C", c.CRC32C, crc32.New(crc32.MakeTable(crc32.Castagnoli))},
		{"CRC64NVME", c.CRC64NVME, crc64.New(nvme)},
		{"SHA1", c.SHA1, sha1.New()}, {"SHA256", c.SHA256, sha256.New()},
	} {
		if one.given == nil {
			continue
		}
		if found++; found > 1 {
			return api.Error("InvalidRequest", "Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.")
		}
		one.hash.Write(body) // a hash never fails
		given, err := base64.StdEncoding.DecodeString(*one.given)
		switch {
		case err != nil || len(given) != one.hash.Size():
			return api.Error("InvalidRequest", "Value for x-amz-checksum-%s header is invalid.", strings.ToLower(one.name))
		case string(given) != string(one.hash.Sum(nil)):
			return api.Error("BadDigest", "The %s you specified did not match the calculated checksum.", one.name)
		}
	}
	return nil
}

// nvme is the table of CRC-64/NVME.
var nvme = crc64.MakeTable(0x9a6c9329ac4bc9b5)
