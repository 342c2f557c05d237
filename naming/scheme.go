package naming

import (
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/tracehandler/tracehandler/format"
)

// DefaultPrefix begins the names that the zero Scheme builds, and those of tritonparse.
const DefaultPrefix = "dedicated_log_triton_trace_"

// Sizes in bytes. File systems allow 255 bytes in a name; a name of ours may still get the longest suffix, a rotation's
// time stamp and ".partial".
const (
	maxName   = 255
	maxPrefix = 64
	maxHost   = 63 // of a label, RFC 1035 §2.3.4
	maxStem   = maxName - len("_") - len(".ndjson.zst") - stampSize - len(PartialSuffix)
)

// Scheme builds the names of the trace files of one process. Its zero value follows tritonparse's scheme; all its fields
// are optional, and are sanitised when a name is built. A Scheme is a value; its methods are safe for concurrent use.
type Scheme struct {
	Prefix string      // DefaultPrefix if empty; a "_" is added if it does not end in one
	User   string      // $USER if empty (on Windows %USERNAME%), "unknown" if that is empty too
	Host   string      // the host's name if empty; only its first label counts
	PID    int         // this process if 0 or less
	Rank   func() Rank // asked for each event, so it must be fast and safe for concurrent use; EnvRank() if nil
}

// FileName returns the base name of the trace of rank r in format f:
//
//	{Prefix}{User}_rank_{r or "none"}_pid_{PID}_host_{Host}_{f.Suffix()}
//
// It has no path separator, no "..", no control character, no character that Windows forbids, and at most 255 bytes,
// also after ".partial" and RotatedName. The user's name is cut if it is too long for that. Environment and host are
// asked at each call: a program calls FileName when it opens a file, not for each event.
func (s Scheme) FileName(r Rank, f format.Format) string {
	prefix := s.Prefix
	if prefix == "" {
		prefix = DefaultPrefix
	}
	prefix = SanitiseName(prefix, maxPrefix)
	if !strings.HasSuffix(prefix, "_") {
		prefix += "_"
	}
	pid := s.PID
	if pid <= 0 {
		pid = os.Getpid()
	}
	rank := "none"
	if r >= 0 {
		rank = strconv.Itoa(int(r))
	}
	tail := "_rank_" + rank + "_pid_" + strconv.Itoa(pid) + "_host_" + SanitiseHost(s.host()) + "_"
	stem := prefix + SanitiseName(s.user(), maxStem-len(prefix)-len(tail)) + tail
	if device, _, _ := strings.Cut(stem, "."); isDevice(device) {
		stem = "_" + stem // maxStem leaves room
	}
	return stem + f.Suffix()
}

func (s Scheme) user() string {
	if s.User != "" {
		return s.User
	}
	user := os.Getenv("USER")
	if user == "" && runtime.GOOS == "windows" {
		user = os.Getenv("USERNAME")
	}
	return user
}

func (s Scheme) host() string {
	if s.Host != "" {
		return s.Host
	}
	host, err := os.Hostname()
	if err != nil {
		return "" // a name is built all the same, with "unknown"
	}
	return host
}

// isDevice reports whether Windows takes a file of that name, with any extension, for a device.
func isDevice(name string) bool {
	switch name = strings.ToUpper(name); name {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(name) == 4 && (strings.HasPrefix(name, "COM") || strings.HasPrefix(name, "LPT")) && isDigit(name[3])
}
