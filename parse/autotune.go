package parse

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/tracehandler/tracehandler/parse/internal/js"
)

// appendAnalysis appends the autotune_analysis event of a session. groups are the hashes of all sessions that compiled
// two kernels or more. The event can be long, because every value of every argument is in it: drain is called now and
// then and may take what there is so far; it returns what to append to.
func (s *session) appendAnalysis(dst []byte, groups [][]string, occurrence int64, deep bool, drain func([]byte) []byte) []byte {
	alive := newSurvivors(s.launches.n, func(i uint32) bool { return s.lastOf[s.seq[i].group] == i })
	var diff *launchDiff
	if s.launches.n > 0 {
		diff = s.launches.result(alive, deep)
	}

	dst = append(dst, `{"event_type":"autotune_analysis","session_id":`...)
	dst = js.AppendString(dst, s.id)
	dst = append(append(dst, `,"session_stack":`...), s.userFrames...)
	dst = append(append(dst, `,"name":`...), orNull(s.displayName())...)
	dst = append(dst, `,"selected_hash":`...)
	if s.winner != nil {
		dst = js.AppendString(dst, string(s.winnerGroup[:]))
		dst = append(append(dst, `,"winner_compilation_hash":`...), s.winner.hashJSON...)
	} else {
		dst = append(dst, `null,"winner_compilation_hash":null`...)
	}
	dst = s.appendGroups(append(dst, `,"possible_groups":`...), groups)
	dst = s.appendCompilations(append(dst, `,"compilation_analysis":`...))
	dst = append(dst, `,"launch_analysis":`...)
	if diff == nil {
		dst = append(dst, `null`...)
	} else {
		dst = append(dst, `{"launch_group_hashes":[`...)
		first := true
		for i, l := range s.seq {
			if alive[i+1] == alive[i] {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = js.AppendString(dst, string(l.group[:]))
		}
		dst = append(dst, `],"launch_params_diff":{"sames":`...)
		dst = diff.sames.appendJSON(dst)
		dst = append(dst, `,"diffs":`...)
		dst = diff.diffs.appendJSON(dst)
		dst = append(dst, `}}`...)
	}
	dst = append(dst, `,"cache_usage":`...)
	dst = strconv.AppendBool(dst, len(s.benchmark) == 0)
	dst = append(dst, `,"launch_ranges":{"benchmark":`...)
	dst = appendRangeText(dst, s.benchmark)
	dst = append(dst, `,"winner":`...)
	dst = appendRangeText(dst, s.wins)
	dst = append(dst, `},"launch_occurrence_ids":{"benchmark":`...)
	dst = appendInts(dst, s.benchmark)
	dst = append(dst, `,"winner":`...)
	dst = appendInts(dst, s.wins)
	dst = append(dst, '}')
	if diff != nil {
		dst = s.appendArgs(drain(append(dst, `,"autotune_args_summary":`...)), diff, alive, drain)
	}
	if a := s.autotune; a != nil {
		dst = append(append(dst, `,"autotune_result":{"best_config":`...), orNull(a.best)...)
		dst = append(append(dst, `,"configs_timings":`...), orNull(a.timings)...)
		dst = append(append(dst, `,"benchmark_duration":`...), orNull(a.duration)...)
		dst = append(append(dst, `,"cache_hit":`...), orNull(a.hit)...)
		dst = append(dst, '}')
	}
	dst = append(dst, `,"occurrence_id":`...)
	dst = strconv.AppendInt(dst, occurrence, 10)
	return append(dst, '}')
}

func orNull(b []byte) []byte {
	if b == nil {
		return []byte("null")
	}
	return b
}

func (s *session) displayName() []byte {
	if len(s.compiled) > 0 && s.compiled[0].kernel.name != nil {
		return s.compiled[0].kernel.name
	}
	return s.name
}

// appendGroups appends the session's own kernels as one group, or without any, every group that the winner is in.
func (s *session) appendGroups(dst []byte, groups [][]string) []byte {
	if len(s.compiled) > 0 {
		groups = [][]string{s.hashes()}
	} else if s.winner == nil {
		groups = nil
	} else {
		var with [][]string
		for _, g := range groups {
			if slices.Contains(g, string(s.winner.hashJSON)) {
				with = append(with, g)
			}
		}
		groups = with
	}
	dst = append(dst, '[')
	for i, g := range groups {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendTexts(dst, g)
	}
	return append(dst, ']')
}

// hashes returns the hashes of the session's kernels, as JSON.
func (s *session) hashes() []string {
	var h []string
	for _, c := range s.compiled {
		h = append(h, string(c.kernel.hashJSON))
	}
	return h
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = append(dst, '[')
	for i, t := range texts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, t...)
	}
	return append(dst, ']')
}

func appendConfig(dst []byte, ps []configParam) []byte {
	dst = append(dst, '{')
	for i, p := range ps {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(js.AppendString(dst, p.name), ':'), p.value...)
	}
	return append(dst, '}')
}

func (s *session) appendCompilations(dst []byte) []byte {
	if len(s.compiled) == 0 {
		return append(dst, `null`...)
	}
	dst = append(dst, `{"configs":[`...)
	for i, c := range s.compiled {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendConfig(append(dst, `{"compilation_config_params":`...), c.params)
		dst = append(append(dst, `,"compilation_hash":`...), c.kernel.hashJSON...)
		dst = append(dst, '}')
	}
	dst = appendTexts(append(dst, `],"compilation_hashes":`...), s.hashes())
	dst = append(append(dst, `,"common_info":{"stack":`...), orNull(s.firstCommonStack)...)
	dst = append(append(dst, `,"python_source":`...), orNull(s.firstSource)...)
	return append(dst, `}}`...)
}

func appendInts(dst []byte, ns []int64) []byte {
	dst = append(dst, '[')
	for i, n := range ns {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(dst, n, 10)
	}
	return append(dst, ']')
}

// appendRangeText appends "1-3, 10" for sorted numbers.
func appendRangeText(dst []byte, ns []int64) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(ns); {
		j := i
		for j+1 < len(ns) && ns[j+1] == ns[j]+1 {
			j++
		}
		if i > 0 {
			dst = append(dst, `, `...)
		}
		dst = strconv.AppendInt(dst, ns[i], 10)
		if j > i {
			dst = append(dst, '-')
			dst = strconv.AppendInt(dst, ns[j], 10)
		}
		i = j + 1
	}
	return append(dst, '"')
}

// argValues are the values of one argument in the launches of one kernel, most frequent first.
type argValues struct {
	ids    []uint64
	counts []int
	index  map[uint64]int
}

func (v *argValues) add(id uint64) {
	i, ok := v.index[id]
	if !ok {
		if v.index == nil {
			v.index = map[uint64]int{}
		}
		i = len(v.ids)
		v.index[id] = i
		v.ids, v.counts = append(v.ids, id), append(v.counts, 0)
	}
	v.counts[i]++
}

func (v *argValues) appendJSON(dst []byte, s *session, arg int, drain func([]byte) []byte) []byte {
	order := make([]int, len(v.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return v.counts[b] - v.counts[a] })
	dst = append(dst, `{"unique_count":`...)
	dst = strconv.AppendInt(dst, int64(len(v.ids)), 10)
	dst = append(dst, `,"values":[`...)
	for i, j := range order {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(drain(dst), `{"value":`...), s.argText(arg, v.ids[j])...)
		dst = append(dst, `,"count":`...)
		dst = strconv.AppendInt(dst, int64(v.counts[j]), 10)
		dst = append(dst, '}')
	}
	return append(dst, `]}`...)
}

func (s *session) argText(arg int, id uint64) []byte {
	return s.launches.ids.texts.get(s.args[arg].values[id])
}

// config is one kernel of a session, with what its launches were given.
type config struct {
	kernel *kernel
	params []configParam
	args   []argValues // parallel to session.args
}

func (s *session) configs(alive survivors) []*config {
	var list []*config
	byKernel := map[*kernel]*config{}
	for i, l := range s.seq {
		if alive[i+1] == alive[i] || byKernel[l.kernel] != nil {
			continue
		}
		c := &config{kernel: l.kernel, params: l.kernel.params, args: make([]argValues, len(s.args))}
		for _, sc := range s.compiled {
			if sc.kernel == l.kernel {
				c.params = sc.params
			}
		}
		byKernel[l.kernel] = c
		list = append(list, c)
	}
	for j := range s.args {
		from := 0
		for i, l := range s.seq {
			if alive[i+1] == alive[i] {
				continue
			}
			if id := s.args[j].valueAt(uint32(i), &from); id != 0 {
				byKernel[l.kernel].args[j].add(id)
			}
		}
	}
	return list
}

func (s *session) appendArgs(dst []byte, diff *launchDiff, alive survivors, drain func([]byte) []byte) []byte {
	configs := s.configs(alive)
	dst = append(dst, `{"summary_version":1,"unchanged_args":`...)
	if same := diff.sames.child("extracted_args"); same != nil {
		dst = same.appendJSON(dst)
	} else {
		dst = append(dst, `{}`...)
	}
	dst = append(dst, `,"per_config_args":{`...)
	for i, c := range configs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(dst, c.kernel.hashKey()...), `:{`...)
		for j := range s.args {
			if len(c.args[j].ids) == 0 {
				continue
			}
			dst = append(js.AppendString(dst, s.args[j].name), ':')
			dst = append(c.args[j].appendJSON(dst, s, j, drain), ',')
		}
		dst = appendConfig(append(dst, `"compilation_config_params":`...), c.params)
		dst = append(dst, '}')
	}
	dst = append(dst, `},"arg_order":[`...)
	for i, j := range s.argOrder(alive) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = js.AppendString(dst, s.args[j].name)
	}
	dst = append(dst, `],"autotune_configs":`...)
	return append(s.appendConfigs(dst, configs), '}')
}

// argOrder lists the arguments: those of the first launch that counts in its order, then the others by name.
func (s *session) argOrder(alive survivors) []int {
	first := uint32(0)
	for alive[first+1] == alive[first] {
		first++
	}
	var order, rest []int
	for j := range s.args {
		from, used := 0, false
		for i := range s.seq {
			used = used || alive[i+1] > alive[i] && s.args[j].valueAt(uint32(i), &from) != 0
		}
		from = 0
		if s.args[j].valueAt(first, &from) != 0 {
			order = append(order, j)
		} else if used {
			rest = append(rest, j)
		}
	}
	slices.SortFunc(rest, func(a, b int) int { return bytes.Compare([]byte(s.args[a].name), []byte(s.args[b].name)) })
	return append(order, rest...)
}

// appendConfigs appends which parameters and arguments all configurations share and which make them differ.
func (s *session) appendConfigs(dst []byte, configs []*config) []byte {
	sames, varies := []byte(`{`), []byte(`{`)
	member := func(dst []byte, name string) []byte {
		if len(dst) > 1 {
			dst = append(dst, ',')
		}
		return append(js.AppendString(dst, name), ':')
	}
	perConfig := func(name string, value func(c *config) []byte) {
		varies = append(member(varies, name), '{')
		for i, c := range configs {
			if i > 0 {
				varies = append(varies, ',')
			}
			varies = append(append(varies, c.kernel.hashKey()...), ':')
			varies = append(varies, orNull(value(c))...)
		}
		varies = append(varies, '}')
	}

	names := slices.Clone(configNames[:])
	slices.Sort(names)
	for _, name := range names {
		value := func(c *config) []byte {
			for _, p := range c.params {
				if p.name == name {
					return p.value
				}
			}
			return nil
		}
		// A missing value before the first known one counts as equal to it, as in the reference.
		var base []byte
		equal := true
		for _, c := range configs {
			v := value(c)
			if base == nil {
				base = v
			} else if !bytes.Equal(v, base) {
				equal = false
			}
		}
		if base == nil {
			continue
		}
		if equal {
			sames = append(member(sames, name), base...)
		} else {
			perConfig(name, value)
		}
	}

	args := make([]int, 0, len(s.args))
	for j := range s.args {
		if !s.args[j].tensor {
			args = append(args, j)
		}
	}
	slices.SortFunc(args, func(a, b int) int { return bytes.Compare([]byte(s.args[a].name), []byte(s.args[b].name)) })
	for _, j := range args {
		equal, used := true, false
		for _, c := range configs {
			v := c.args[j].ids
			used = used || len(v) > 0
			equal = equal && len(v) == 1 && v[0] == configs[0].args[j].ids[0]
		}
		if !used {
			continue
		}
		if equal {
			sames = append(member(sames, s.args[j].name), s.argText(j, configs[0].args[j].ids[0])...)
			continue
		}
		perConfig(s.args[j].name, func(c *config) []byte {
			switch v := &c.args[j]; len(v.ids) {
			case 0:
				return nil
			case 1:
				return s.argText(j, v.ids[0])
			default:
				return v.appendJSON(nil, s, j, func(b []byte) []byte { return b })
			}
		})
	}
	dst = append(append(dst, `{"sames":`...), sames...)
	dst = append(append(dst, `},"varies":`...), varies...)
	return append(dst, `}}`...)
}
