package ir

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Versions of the format. Readers take all of them; writers write VersionText and VersionKV by default.
const (
	VersionText = "0.0.2"
	VersionKV   = "0.1.0"
)

var textVersions = map[string]bool{"v0.0.0": true, "0.0.1": true, VersionText: true}

const (
	schemaID  = "com.yscope.clp.VariablesSchemaV2"
	methodsID = "com.yscope.clp.VariableEncodingMethodsV1"
)

// Metadata is what the preamble of a stream says.
type Metadata struct {
	Version   string
	Raw       json.RawMessage // the whole object, as it stands in the stream
	User      json.RawMessage // USER_DEFINED_METADATA, or nil
	Reference int64           // of a four-byte text stream: the time that the first delta counts from, ms

	// Of text streams, for information: how the program that was logged printed its times.
	TimestampPattern       string
	TimestampPatternSyntax string
	TimeZone               string // TZ_ID, a name of the IANA data base
}

func parseMetadata(raw []byte, width Width) (*Metadata, error) {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil || m == nil {
		return nil, fmt.Errorf("%w: not a JSON object", ErrMetadata)
	}
	str := func(key string) (s string, ok bool) {
		return s, len(m[key]) > 0 && m[key][0] == '"' && json.Unmarshal(m[key], &s) == nil
	}
	md := &Metadata{Raw: raw}
	var ok bool
	if md.Version, ok = str("VERSION"); !ok {
		return nil, fmt.Errorf("%w: no string VERSION", ErrMetadata)
	}
	md.User = m["USER_DEFINED_METADATA"]
	switch {
	case md.Version == VersionKV:
		if md.User != nil && md.User[0] != '{' {
			return nil, fmt.Errorf("%w: USER_DEFINED_METADATA is not an object", ErrMetadata)
		}
		return md, nil
	case !textVersions[md.Version]:
		return nil, fmt.Errorf("%w: %q", ErrVersion, md.Version)
	}
	md.TimestampPattern, _ = str("TIMESTAMP_PATTERN")
	md.TimestampPatternSyntax, _ = str("TIMESTAMP_PATTERN_SYNTAX")
	md.TimeZone, _ = str("TZ_ID")
	if width == FourByte {
		text, ok := str("REFERENCE_TIMESTAMP")
		if !ok {
			return nil, ErrReference
		}
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil || text[0] == '+' {
			return nil, fmt.Errorf("%w: %q", ErrReference, text)
		}
		md.Reference = v
	}
	return md, nil
}

// reserved names would make clp-s refuse the stream.
var reserved = []string{"_filename", "_file_split_number", "_archive_creator_id"}

// AppendPreamble appends the start of a stream: magic number and metadata, for programs that use Encoder or TextEncoder
// by themselves. Raw of md is not looked at. The error wraps ErrVersion or ErrMetadata, or is a *LimitError.
//
// Keys come in the order of their bytes and the text is ASCII: the C++ readers refuse any other.
func AppendPreamble(dst []byte, width Width, md *Metadata) ([]byte, error) {
	var o []byte
	member := func(key, value string) { o = appendASCII(append(o, ',', '"'), key+`":"`+value+`"`) }
	quoted := func(key, value string) {
		q := AppendQuoted(nil, []byte(value))
		member(key, string(q[1:len(q)-1]))
	}
	if md.Version != VersionKV {
		if !textVersions[md.Version] {
			return dst, fmt.Errorf("%w: %q", ErrVersion, md.Version)
		}
		if width == FourByte {
			quoted("REFERENCE_TIMESTAMP", strconv.FormatInt(md.Reference, 10))
		}
		quoted("TIMESTAMP_PATTERN", md.TimestampPattern)
		quoted("TIMESTAMP_PATTERN_SYNTAX", md.TimestampPatternSyntax)
		quoted("TZ_ID", md.TimeZone)
	} else if md.User != nil {
		user, err := sorted(md.User)
		if err != nil {
			return dst, err
		}
		o = appendASCII(append(o, `,"USER_DEFINED_METADATA":`...), user)
	}
	member("VARIABLES_SCHEMA_ID", schemaID)
	member("VARIABLE_ENCODING_METHODS_ID", methodsID)
	quoted("VERSION", md.Version)
	o[0] = '{'
	o = append(o, '}')
	if len(o) > math.MaxUint16 {
		return dst, &LimitError{What: "bytes of metadata", Limit: math.MaxUint16, Offset: -1}
	}
	magic := magicFour
	if width == EightByte {
		magic = magicEight
	}
	dst = append(append(dst, magic...), tagMetaJSON)
	return append(appendLength(dst, tagMetaLen8, len(o)), o...), nil
}

// sorted checks user-defined metadata and gives it in compact form, keys in the order of their bytes.
func sorted(user []byte) (string, error) {
	var members map[string]any
	d := json.NewDecoder(bytes.NewReader(user))
	d.UseNumber()
	if err := d.Decode(&members); err != nil || members == nil || d.More() {
		return "", fmt.Errorf("%w: user-defined metadata is not a JSON object", ErrMetadata)
	}
	for _, name := range reserved {
		if _, ok := members[name]; ok {
			return "", fmt.Errorf("%w: the name %s in user-defined metadata is reserved", ErrMetadata, name)
		}
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(members); err != nil {
		return "", fmt.Errorf("%w: %w", ErrMetadata, err)
	}
	return string(bytes.TrimSpace(out.Bytes())), nil
}

// appendASCII appends JSON text with every character that is not ASCII as \uXXXX.
func appendASCII(dst []byte, text string) []byte {
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			dst = append(dst, byte(r))
		case r > 0xFFFF:
			hi, lo := utf16.EncodeRune(r)
			dst = fmt.Appendf(dst, `\u%04x\u%04x`, hi, lo)
		default:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
	}
	return dst
}
