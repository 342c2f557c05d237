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
