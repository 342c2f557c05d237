package kql

// Uses reports whether the query has a key of the namespace '@' or '$', or 0 for those without one: whether Input's field
// for it can matter.
func (q *Query) Uses(namespace byte) bool { return uses(q.root, namespace) }

func uses(n node, namespace byte) bool {
	switch n := n.(type) {
	case not:
		return uses(n.x, namespace)
	case both:
		return uses(n.left, namespace) || uses(n.right, namespace)
	case any2:
		return uses(n.left, namespace) || uses(n.right, namespace)
	case *filter:
		return n.column.namespace == namespace
	}
	return false // nothing
}

// Path returns the names that a key without * leads through, from the outermost object inwards. The error is a
// *SyntaxError, also for a key with a namespace.
func Path(key string) ([]string, error) {
	namespace, names, err := NamespacePath(key)
	if err == nil && namespace != 0 {
		return nil, &SyntaxError{0, "a key of another namespace", `a name that begins with the sign is written with a backslash before it`}
	}
	return names, err
}

// NamespacePath is Path for any key: the namespace is '@', '$', '!' or '#', or 0 for a key without one.
func NamespacePath(key string) (namespace byte, names []string, err error) {
	c, err := parseKey(key)
	if err != nil {
		return 0, nil, err
	}
	for _, w := range c.words {
		names = append(names, w.name)
	}
	return c.namespace, names, nil
}
