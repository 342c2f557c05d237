// Package msgpack reads and writes MessagePack (https://github.com/msgpack/msgpack/blob/master/spec.md) as CLP archives have it in their
// metadata: maps with strings as keys, arrays, scalars.
package msgpack
