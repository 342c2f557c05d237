package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/tracehandler/tracehandler/naming"
	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// listName is the file that tells other tools (tlparse, the web page) what there is.
const listName = "log_file_list.json"

func rankName(r naming.Rank) string {
	if r == naming.NoRank {
		return "none"
	}
	return fmt.Sprint(int(r))
}

// rankFolder is where the files of a rank lie, within the output folder.
func rankFolder(r naming.Rank) string {
	if r == naming.NoRank {
		return ""
	}
	return "rank_" + rankName(r)
}

// appendList appends log_file_list.json. Its rank_suffix depends on the ranks that were asked for, not on where the
// files are: this is what its readers know.
func appendList(dst []byte, sel Selection, ranks []RankReport) []byte {
	suffix := ""
	if sel.one {
		suffix = "rank_" + rankName(sel.rank) + "/"
	}
	dst = append(dst, "{\n  \"tritonparse_url_prefix\": \"\""...)
	for _, r := range ranks {
		mapped := ""
		dst = append(dst, ",\n  \"rank_"+rankName(r.Rank)+"\": {\n    \"regular_files\": ["...)
		n := 0
		for _, f := range r.Files {
			name := filepath.Base(f.Path)
			if mapped == "" && strings.Contains(strings.ToLower(name), "mapped") {
				mapped = name
				continue
			}
			if n > 0 {
				dst = append(dst, ',')
			}
			n++
			dst = js.AppendString(append(dst, "\n      "...), name)
		}
		if n > 0 {
			dst = append(dst, "\n    "...)
		}
		dst = append(dst, "],\n"...)
		if mapped != "" {
			dst = append(js.AppendString(append(dst, "    \"mapped_file\": "...), mapped), ",\n"...)
		}
		dst = append(js.AppendString(append(dst, "    \"rank_suffix\": "...), suffix), "\n  }"...)
	}
	return append(dst, "\n}"...)
}

func writeList(dir string, sel Selection, ranks []RankReport) error {
	f, err := os.OpenFile(filepath.Join(dir, listName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(appendList(nil, sel, ranks))
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}
