package main

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// strangers are files that are no traces but are often taken for some: what they begin with, and what makes a trace of them.
var strangers = []struct{ head, what string }{
	{"\xff\xfe", utf16Text}, {"\xfe\xff", utf16Text}, {"{\x00", utf16Text}, {"\x00{", utf16Text},
	{"\xfd7zXZ\x00", "it is compressed with xz: pass on what 'xz -dc' makes of it"},
	{"BZh", "it is compressed with bzip2: pass on what 'bzip2 -dc' makes of it"},
	{"\x04\x22\x4d\x18", "it is compressed with lz4: pass on what 'lz4 -dc' makes of it"},
	{"PK\x03\x04", "it is a zip archive: pass on what 'unzip -p' makes of it"},
}

const utf16Text = "it is UTF-16: pass on what 'iconv -f UTF-16 -t UTF-8' makes of it"

// instead says what the file at path is if it is no trace, and what to do about it; empty if that is not known.
func instead(path string) string {
	if path == stdinName {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head) // fewer bytes do
	head = head[:n]
	for _, s := range strangers {
		if strings.HasPrefix(string(head), s.head) {
			return s.what
		}
	}
	const tarMagic, tarMagicAt = "ustar", 257 // POSIX.1-1988
	if n > tarMagicAt && strings.HasPrefix(string(head[tarMagicAt:]), tarMagic) {
		return "it is a tar archive: pass on what 'tar -xOf' makes of it"
	}
	switch text := bytes.TrimLeft(head, " \t\r\n"); {
	case len(text) == 0:
	case bytes.Contains(text, []byte(`"traceEvents"`)):
		return "it looks like a profiler trace: 'tracectl analyze' reads those"
	case text[0] == '[':
		return "it looks like a JSON array: 'jq -c .[]' makes a line of each element"
	case text[0] == '{' && bytes.HasPrefix(bytes.TrimLeft(text[1:], " \t\r"), []byte("\n")):
		return "it looks like JSON of several lines: 'jq -c .' makes a line of each value"
	}
	return ""
}
