package sqs

import (
	"crypto/md5" //nolint:gosec // SQS's protocol names MD5; it protects nothing
	"encoding/hex"
)

func hexMD5(content []byte) string {
	sum := md5.Sum(content) //nolint:gosec // see the import
	return hex.EncodeToString(sum[:])
}
