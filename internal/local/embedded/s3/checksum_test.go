package s3

import (
	"testing"

	"github.com/aws/smithy-go"

	"github.com/ingot-events/ingot/internal/kit/must"
)

// TestChecksums checks the text 123456789, whose checksums are published with each algorithm.
func TestChecksums(t *testing.T) {
	text := func(s string) *string { return &s }
	for _, c := range []struct {
		sums Checksums
		want string // the error's code
	}{
		{Checksums{}, ""},
		{Checksums{MD5: text("JfnnlDI7RTiF9RgfG2JNCw==")}, ""},
		{Checksums{MD5: text("JfnnlDI7RTiF9RgfG2JNCg==")}, "BadDigest"},
		{Checksums{MD5: text("JfnnlDI7RTiF9RgfGzRh")}, "InvalidDigest"},
		{Checksums{MD5: text("!")}, "InvalidDigest"},
		{Checksums{CRC32: text("y/Q5Jg==")}, ""},
		{Checksums{CRC32: text("y/Q5Jw==")}, "BadDigest"},
		{Checksums{CRC32: text("y/Q5")}, "InvalidRequest"},
		{Checksums{CRC32C: text("4waSgw==")}, ""},
		{Checksums{CRC32C: text("y/Q5Jg==")}, "BadDigest"},
		{Checksums{CRC64NVME: text("rosUhgp5mIg=")}, ""},
		{Checksums{CRC64NVME: text("rosUhgp5mIk=")}, "BadDigest"},
		{Checksums{SHA1: text("98O8HYCOBHMq32eZZczDTKeuNEE=")}, ""},
		{Checksums{SHA1: text("98O8HYCOBHMq32eZZczDTKeuNEA=")}, "BadDigest"},
		{Checksums{SHA256: text("FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU=")}, ""},
		{Checksums{SHA256: text("FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiQ=")}, "BadDigest"},
		{Checksums{CRC32: text("y/Q5Jg=="), SHA256: text("")}, "InvalidRequest"},
	} {
		err := c.sums.Check([]byte("123456789"))
		got := ""
		if said, is := err.(smithy.APIError); is {
			got = said.ErrorCode()
		}
		must.Equal(t, got, c.want, c.sums, err)
	}
}
