package summary

import (
	"encoding/json"
	"time"
)

// SetTop bounds the number of keys in the JSON text; 0 is all.
func (s *Summary) SetTop(n int) { s.top = n }

// MarshalJSON writes the summary with sizes in bytes and times in RFC 3339.
func (s *Summary) MarshalJSON() ([]byte, error) {
	levels := map[string]int64{}
	for l, n := range s.ByLevel {
		levels[l.String()] = n
	}
	var first, last *time.Time
	if !s.First.IsZero() {
		first, last = &s.First, &s.Last
	}
	return json.Marshal(struct {
		Name        string           `json:"name"`
		Format      string           `json:"format,omitempty"`
		Events      int64            `json:"events"`
		Chosen      int64            `json:"chosen"`
		BadLines    int64            `json:"bad_lines"`
		Text        int64            `json:"text_bytes"`
		Stored      int64            `json:"stored_bytes"`
		Frames      int64            `json:"frames"`
		Damage      int64            `json:"damage"`
		DamageBytes int64            `json:"damage_bytes"`
		First       *time.Time       `json:"first"`
		Last        *time.Time       `json:"last"`
		NoTime      int64            `json:"without_time"`
		Levels      map[string]int64 `json:"levels"`
		NoLevel     int64            `json:"without_level"`
		Different   int              `json:"different_keys"`
		Keys        []Key            `json:"keys"`
	}{s.Name, s.Format, s.Events, s.Chosen, s.BadLines, s.Text, s.Stored, s.Frames, s.Damage, s.DamageBytes, first, last, s.NoTime,
		levels, s.NoLevel, len(s.Keys), s.TopKeys(s.top)})
}
