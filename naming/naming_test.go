package naming_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tracehandler/tracehandler/format"
	"github.com/tracehandler/tracehandler/naming"
)

const dflt = naming.DefaultPrefix

func TestParse(t *testing.T) {
	none := func(prefix, user string) naming.Fields {
		return naming.Fields{Prefix: prefix, User: user, Rank: naming.NoRank, PID: -1}
	}
	full := naming.Fields{Prefix: dflt, User: "u", Rank: 3, PID: 5, Host: "h"}
	tests := []struct {
		name string
		want naming.Fields
	}{
		// The scheme and each suffix.
		{dflt + "u_rank_3_pid_5_host_h_.ndjson", full},
		{dflt + "u_rank_3_pid_5_host_h_.bin.ndjson", full},
		{dflt + "u_rank_3_pid_5_host_h_.clp", full},
		{dflt + "u_rank_3_pid_5_host_h_.ndjson.gz", full},
		{dflt + "u_rank_3_pid_5_host_h_.bin.ndjson.gz", full},
		{dflt + "u_rank_3_pid_5_host_h_.ndjson.zst", full},
		{dflt + "u_rank_3_pid_5_host_h_.clp.zst", full},
		{dflt + "u_rank_3_pid_5_host_h_.ndjson.zst.partial", full},
		{dflt + "u_rank_3_pid_5_host_h_-20261130T103740.123456789Z.ndjson.zst", full},
		{dflt + "u_rank_3_pid_5_host_h_-20261130T103740.123456789Z.ndjson.zst.partial", full},
		{dflt + "u_rank_3_pid_5_host_h_", full},
		{dflt + "u_rank_none_pid_5_host_h_.ndjson", naming.Fields{Prefix: dflt, User: "u", Rank: naming.NoRank, PID: 5, Host: "h"}},

		// Legacy names: tokens missing.
		{dflt + "u_.ndjson", none(dflt, "u")},
		{dflt + "u_rank_3_.ndjson", naming.Fields{Prefix: dflt, User: "u", Rank: 3, PID: -1}},
		{dflt + "u_rank_0_pid_5_.ndjson", naming.Fields{Prefix: dflt, User: "u", Rank: 0, PID: 5}},
		{dflt + "u_pid_5_host_h_.ndjson", naming.Fields{Prefix: dflt, User: "u", Rank: naming.NoRank, PID: 5, Host: "h"}},

		// A host that is none ends the matching: what stands before it is not at the end.
		{dflt + "u_rank_3_pid_5_host__.ndjson", none(dflt, "u_rank_3_pid_5_host_")},
		{dflt + "u_rank_3_pid_5_host_h.x_.ndjson", none(dflt, "u_rank_3_pid_5_host_h.x")},
		{dflt + "u_rank_3_pid_5_host_h_x_.ndjson", none(dflt, "u_rank_3_pid_5_host_h_x")},

		// Look-alikes in the user's name never win.
		{dflt + "team_host_fake_pid_999_rank_7_rank_2_pid_555_host_real_.ndjson",
			naming.Fields{Prefix: dflt, User: "team_host_fake_pid_999_rank_7", Rank: 2, PID: 555, Host: "real"}},
		{dflt + "team_host_fake_pid_999_rank_7_rank_none_pid_555_host_real_.ndjson",
			naming.Fields{Prefix: dflt, User: "team_host_fake_pid_999_rank_7", Rank: naming.NoRank, PID: 555, Host: "real"}},
		{dflt + "team_pid_99_user_rank_2_pid_555_.ndjson", naming.Fields{Prefix: dflt, User: "team_pid_99_user", Rank: 2, PID: 555}},
		{dflt + "a_rank_rank_3_pid_pid_5_host_host_.ndjson",
			naming.Fields{Prefix: dflt, User: "a_rank_rank_3_pid", Rank: naming.NoRank, PID: 5, Host: "host"}},

		// Something in front changes nothing.
		{"log.source." + dflt + "u_rank_3_pid_5_host_h_.ndjson",
			naming.Fields{Prefix: "log.source." + dflt, User: "u", Rank: 3, PID: 5, Host: "h"}},
		{dflt + dflt + "_rank_3_pid_5_host_h_.ndjson", naming.Fields{Prefix: dflt, User: dflt, Rank: 3, PID: 5, Host: "h"}},
		{"mine_u_rank_3_pid_5_host_h_.ndjson", naming.Fields{Prefix: "mine_u", Rank: 3, PID: 5, Host: "h"}},

		// Numbers that are none, or too large.
		{dflt + "u_rank_x_.ndjson", none(dflt, "u_rank_x")},
		{dflt + "u_rank_-3_.ndjson", none(dflt, "u_rank_-3")},
		{dflt + "u_rank_99999999999999999999_pid_99999999999999999999_.ndjson", none(dflt, "u")},
		{dflt + "u_rank_007_.ndjson", naming.Fields{Prefix: dflt, User: "u", Rank: 7, PID: -1}},

		// Names that are none.
		{"", none("", "")},
		{"_", none("", "")},
		{".ndjson", none("", "")},
		{"_rank_1_", naming.Fields{Rank: 1, PID: -1}},
		{"trace.log", none("trace.log", "")},
		{"x.gz.gz", none("x.gz", "")},
	}
	for _, tt := range tests {
		if got := naming.Parse(tt.name); got != tt.want {
			t.Errorf("Parse(%q)\n got %+v\nwant %+v", tt.name, got, tt.want)
		}
	}
}

func TestFileName(t *testing.T) {
	long := strings.Repeat("x", 300)
	tests := []struct {
		scheme naming.Scheme
		rank   naming.Rank
		want   string
	}{
		{naming.Scheme{User: "u", Host: "h", PID: 5}, 3, dflt + "u_rank_3_pid_5_host_h_"},
		{naming.Scheme{User: "u", Host: "h", PID: 5}, naming.NoRank, dflt + "u_rank_none_pid_5_host_h_"},
		{naming.Scheme{User: "u", Host: "h", PID: 5}, -7, dflt + "u_rank_none_pid_5_host_h_"},
		{naming.Scheme{User: "u", Host: "node-7.cluster.example", PID: 5}, 0, dflt + "u_rank_0_pid_5_host_node-7_"},
		{naming.Scheme{User: "u", Host: ".example", PID: 5}, 0, dflt + "u_rank_0_pid_5_host_unknown_"},
		{naming.Scheme{User: "u", Host: "a_b/ç", PID: 5}, 0, dflt + "u_rank_0_pid_5_host_a-b--_"},
		{naming.Scheme{Prefix: "my.app", User: "u", Host: "h", PID: 5}, 0, "my.app_u_rank_0_pid_5_host_h_"},
		{naming.Scheme{Prefix: "my_", User: "first.last@corp", Host: "h", PID: 5}, 0, "my_first.last@corp_rank_0_pid_5_host_h_"},
		{naming.Scheme{Prefix: "../../etc/", User: "../root\x00\n", Host: "../h", PID: 5}, 0,
			"_.-.--etc-__.-root--_rank_0_pid_5_host_unknown_"},
		{naming.Scheme{Prefix: "-rf", User: "\xff\u202e", Host: "h", PID: 5}, 0, "_rf__-_rank_0_pid_5_host_h_"},
		{naming.Scheme{Prefix: "CON.x", User: "jürgen", Host: "h", PID: 5}, 0, "_CON.x_jürgen_rank_0_pid_5_host_h_"},
		{naming.Scheme{Prefix: "p_", User: long, Host: long, PID: 5}, 0,
			"p_" + long[:208-2-len("_rank_0_pid_5_host__")-63] + "_rank_0_pid_5_host_" + long[:63] + "_"},
	}
	for _, tt := range tests {
		if got := tt.scheme.FileName(tt.rank, format.Zstd); got != tt.want+".ndjson.zst" {
			t.Errorf("%+v.FileName(%d)\n got %q\nwant %q", tt.scheme, tt.rank, got, tt.want+".ndjson.zst")
		}
	}
}

// TestFileNameEnv: the zero Scheme asks the environment, and never fails.
func TestFileNameEnv(t *testing.T) {
	t.Setenv("USER", "someone")
	f := naming.Parse(naming.Scheme{}.FileName(1, format.Plain))
	if f.User != "someone" || f.Rank != 1 || f.PID <= 0 || f.Host == "" {
		t.Errorf("zero Scheme: %+v", f)
	}
	t.Setenv("USER", "")
	t.Setenv("USERNAME", "")
	if f := naming.Parse(naming.Scheme{}.FileName(1, format.Plain)); f.User != "unknown" {
		t.Errorf("without USER: %+v", f)
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("", "u", "h", 5, 3)
	f.Add("../..", "team_host_fake_pid_999_rank_7", "a.b", 1, -1)
	f.Add("log.source.", "\x00/\\..", "\xff", 1<<30, 1<<30)
	f.Add(strings.Repeat("p", 300), strings.Repeat("ü", 300), strings.Repeat("h", 300), 1, 1)
	f.Add("nul", ".", "_", 0, 0)
	f.Fuzz(func(t *testing.T, prefix, user, host string, pid, rank int) {
		t.Setenv("USER", "fallback")
		s := naming.Scheme{Prefix: prefix, User: user, Host: host, PID: pid}
		for _, fm := range format.All() {
			name := s.FileName(naming.Rank(rank), fm)
			checkName(t, name)
			got := naming.Parse(name)
			if want := naming.Rank(max(rank, -1)); got.Rank != want {
				t.Errorf("%q: rank %d, want %d", name, got.Rank, want)
			}
			if pid > 0 && got.PID != pid {
				t.Errorf("%q: pid %d, want %d", name, got.PID, pid)
			}
			if want := naming.SanitiseHost(host); host != "" && got.Host != want {
				t.Errorf("%q: host %q, want %q", name, got.Host, want)
			}
			if want := naming.SanitiseName(user, 25); prefix == "" && user != "" && !strings.HasPrefix(got.User, strings.TrimSuffix(want, "_")) {
				t.Errorf("%q: user %q, want %q or more", name, got.User, want)
			}
		}
	})
}

func checkName(t *testing.T, name string) {
	t.Helper()
	if len(name) > 255-len(naming.PartialSuffix)-len("-20261130T103740.123456789Z") {
		t.Errorf("%q is %d bytes long", name, len(name))
	}
	if strings.Contains(name, "..") || strings.ContainsAny(name, "/\\<>:\"|?* ") || strings.ContainsFunc(name, unicode.IsControl) {
		t.Errorf("%q holds what no name may hold", name)
	}
	if !utf8.ValidString(name) || name[0] == '.' || name[0] == '-' {
		t.Errorf("%q is not a plain name", name)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("dedicated_log_triton_trace_u_rank_3_pid_5_host_h_.ndjson")
	f.Add("_host__pid__rank_.bin.ndjson.gz.partial")
	f.Fuzz(func(t *testing.T, base string) {
		got := naming.Parse(base)
		if got.Rank < naming.NoRank || got.PID < -1 || len(got.Prefix)+len(got.User)+len(got.Host) > len(base) {
			t.Errorf("Parse(%q) = %+v", base, got)
		}
	})
}
