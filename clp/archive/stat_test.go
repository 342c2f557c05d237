package archive

import (
	"testing"
)

func TestKeys(t *testing.T) {
	lines := [][]byte{[]byte(`{"a":{"x.y":1},"s":"text of words 17","l":[1]}`), []byte(`{"a":{"x.y":2},"f":1.5}`), []byte(`{"a":{"x.y":"u"}}`)}
	data := write(t, lines, nil)
	for _, stored := range []bool{false, true} {
		r := openBytes(t, data, &Options{Stored: stored})
		keys, err := r.Keys()
		check(t, err)
		type fact struct {
			typ            NodeType
			records, bytes int64
		}
		got := map[string][]fact{}
		for _, k := range keys {
			got[k.Path] = append(got[k.Path], fact{k.Type, k.Records, k.Bytes})
			if k.Packed < 0 || k.Packed > int64(len(data)) || k.Path != r.path(k.Node) {
				t.Errorf("%+v", k)
			}
		}
		for path, want := range map[string][]fact{
			`a.x\.y`:        {{Integer, 2, 16}, {VarString, 1, 8}},
			"s":             {{ClpString, 1, 24}},
			"l":             {{UnstructuredArray, 1, 24}},
			"f":             {{FormattedFloat, 1, 10}},
			"log_event_idx": {{DeltaInteger, 3, 24}},
		} {
			if len(got[path]) != len(want) {
				t.Errorf("%s: %+v, want %+v", path, got[path], want)
				continue
			}
			for i := range want {
				if got[path][i] != want[i] {
					t.Errorf("%s: %+v, want %+v", path, got[path], want)
				}
			}
		}
		n := 0
		for _, err := range r.All() {
			check(t, err)
			n++
		}
		if n != len(lines) {
			t.Errorf("%d records behind Keys", n)
		}
		check(t, r.Close())
	}
}
